import { glob, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { MINUTE } from '../kernel/time.ts'
import { migrate, MIGRATIONS, schemaStatus } from '../store/migrate.ts'
import { createSnapshots, moveFile } from '../store/files/snapshot.ts'
import type { Store } from '../store/store.ts'
import { restoreCommand } from './lost-database.ts'

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
  const needsCopy = database.kind === 'sqlite' && backupBeforeMigration && (await isPending())
  const backup = needsCopy ? await copyOnce(store, { path: database.path, clock, isPending }) : undefined
  const steps = await migrate(store, clock, migrations)
  if (database.kind === 'sqlite') {
    await rm(markOf(database.path), { force: true })
    if (steps.length > 0) await removeCopies(database.path, clock.now())
  }
  return { steps, backup }
}

/** How to go back, for people; without a full stop. */
export function wayBack(backup: string): string {
  return `to go back, stop the platform, install the former release, and run: ${restoreCommand(backup)}`
}

interface CopyParts {
  readonly path: string
  readonly clock: Clock
  readonly isPending: () => Promise<boolean>
}

/** A migration that fails is tried again every few seconds: its copy stays as long as nobody has written to the database. */
async function copyOnce(store: Store, parts: CopyParts): Promise<string | undefined> {
  const { path } = parts
  if ((await isUnchanged(path)) && (await sizeOf(copyOf(path))) > 0) return copyOf(path)
  const backup = await copyBefore(store, parts)
  if (backup !== undefined) await writeFile(markOf(path), await stateOf(path), { mode: 0o600 })
  return backup
}

const copyOf = (path: string) => `${path}.before-migration`
/** A file with the state of the database at the time of the copy; it exists until a process serves the database. */
const markOf = (path: string) => `${path}.migrating`

/**
 * Whether nobody has written since the mark. A commit that is not in the file yet is in its write-ahead log, which a
 * process empties when it stops in order.
 */
async function isUnchanged(path: string): Promise<boolean> {
  const mark = await readFile(markOf(path), 'utf8').catch(() => undefined)
  return mark === (await stateOf(path)) && (await sizeOf(`${path}-wal`)) === 0
}

async function stateOf(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return [ino, size, mtimeNs].join(' ')
}

/** 0 without a file. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** Makes a copy, in place of that of an earlier migration. */
async function copyBefore(store: Store, { path, clock, isPending }: CopyParts): Promise<string | undefined> {
  await removeCopies(path, clock.now() - MINUTE)
  await requireSpace(store, dirname(path))
  const backup = copyOf(path)
  const copy = `${backup}.${newId()}`
  try {
    // Another process may have migrated meanwhile, and removed this copy: its own is the right one.
    await store.snapshot(copy)
    if (!(await isPending())) return undefined
    await moveFile(copy, backup)
    return backup
  } catch (error) {
    if (await isPending()) throw error
    return undefined
  } finally {
    await rm(copy, { force: true })
  }
}

/** Removes copies of processes that were killed meanwhile. A copy that is still being made changes all the time. */
async function removeCopies(path: string, unchangedSince: number): Promise<void> {
  for await (const copy of glob(`${copyOf(path)}.*`)) {
    const { mtimeMs = 0 } = (await stat(copy).catch(() => undefined)) ?? {}
    if (mtimeMs <= unchangedSince) await rm(copy, { force: true })
  }
}

async function requireSpace(store: Store, directory: string): Promise<void> {
  const required = Math.ceil(BACKUP_FACTOR * (await createSnapshots(store).databaseBytes()))
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= required) return
  const message = `A migration begins with a copy of the database, which needs ${required} bytes in ${directory}, and ${bavail * bsize} are free. Make room; or make a backup elsewhere, and set database.backup_before_migration = false.`
  throw new AppError('unavailable', 'no_space', message)
}
