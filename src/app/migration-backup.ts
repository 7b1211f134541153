import { rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { migrate, MIGRATIONS, schemaStatus } from '../store/migrate.ts'
import { createSnapshots, moveFile } from '../store/files/snapshot.ts'
import type { Store } from '../store/store.ts'

/** What a migration has done. */
export interface Migrated {
  readonly steps: readonly string[]
  /** The copy of the database from before; undefined where none was made. */
  readonly backup: string | undefined
}

interface MigrationParts {
  readonly config: Pick<Config, 'database' | 'backupBeforeMigration'>
  readonly clock: Clock
  readonly migrations?: typeof MIGRATIONS
}

// docs/specification.md, Limits: free space for a data backup
const BACKUP_FACTOR = 1.2

/**
 * Brings the schema up to date, after a copy of a SQLite file that has one already. Rejects with `no_space`, before anything
 * is changed, if the copy does not fit.
 */
export async function migrateDatabaseFile(
  store: Store,
  { config, clock, migrations = MIGRATIONS }: MigrationParts,
): Promise<Migrated> {
  const { database, backupBeforeMigration } = config
  const isPending = async () => {
    const { applied, pending } = await schemaStatus(store, { migrations })
    return applied.length > 0 && pending.length > 0
  }
  const isCopied = database.kind === 'sqlite' && backupBeforeMigration && (await isPending())
  const backup = isCopied ? await copyBefore(store, database.path, isPending) : undefined
  return { steps: await migrate(store, clock, migrations), backup }
}

/** How to go back, for people; without a full stop. */
export function wayBack(backup: string): string {
  return `to go back, stop the platform, install the former release, and run: platform data restore ${backup}`
}

/** The copy of an earlier migration is replaced. */
async function copyBefore(
  store: Store,
  path: string,
  isPending: () => Promise<boolean>,
): Promise<string | undefined> {
  await requireSpace(store, dirname(path))
  const backup = `${path}.before-migration`
  const copy = `${backup}.${newId()}`
  try {
    await store.snapshot(copy)
    // Another process may have migrated meanwhile: its copy is the right one.
    if (!(await isPending())) return undefined
    await moveFile(copy, backup)
    return backup
  } finally {
    await rm(copy, { force: true })
  }
}

async function requireSpace(store: Store, directory: string): Promise<void> {
  const required = Math.ceil(BACKUP_FACTOR * (await createSnapshots(store).databaseBytes()))
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= required) return
  const message = `A migration begins with a copy of the database, which needs ${required} bytes in ${directory}, and ${bavail * bsize} are free. Make room; or make a backup elsewhere, and set database.backup_before_migration = false.`
  throw new AppError('unavailable', 'no_space', message)
}
