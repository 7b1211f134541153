import { recordEntry } from '../../domains/audit/index.ts'
import { changesBetween } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { alignColumns } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { schemaStatus } from '../../store/migrate.ts'
import type { Store, Tx } from '../../store/store.ts'
import {
  leftFileNotice,
  loneKeyNotice,
  requireNoLostDatabase,
  requireNoLostSchema,
} from '../lost-database.ts'
import { migrateDatabaseFile, wayBack } from '../migration-backup.ts'
import { createSigningKeys } from '../signing-keys.ts'
import { commandRecord, configOf, withDatabase, type CommandContext, type ConfigOptions } from './context.ts'

interface MigrateOptions extends ConfigOptions {
  readonly new?: boolean
}

/**
 * `platform db migrate`: creates the database, or migrates it to the current schema. With `--new` it also creates an empty
 * database in the place of a lost one, and a lost signing key.
 */
export async function migrateDatabase(context: CommandContext, options: MigrateOptions): Promise<void> {
  const loaded = configOf(context, options)
  const { config, file: configFile } = loaded
  const places = { ...config, configFile }
  if (options.new !== true) {
    requireNoLostDatabase(places)
    const notice = loneKeyNotice(places)
    if (notice !== undefined) context.stderr.write(`platform: ${notice}.\n`)
  }
  const parts = { config, clock: systemClock }
  const migrate = async (store: Store) => {
    if (options.new !== true) await requireNoLostSchema(store, places)
    const left = (await schemaStatus(store)).applied.length > 0 ? undefined : leftFileNotice(config)
    if (left !== undefined) context.stderr.write(`platform: ${left}.\n`)
    const migrated = await migrateDatabaseFile(store, parts)
    if (migrated.steps.length > 0) await store.write((tx) => recordSteps(tx, context, migrated.steps))
    return migrated
  }
  const { steps, backup } = await withDatabase(loaded, migrate, { create: true })
  if (options.new === true) createSigningKeys(config)
  context.stdout.write(steps.length > 0 ? `applied ${steps.join(', ')}\n` : 'the schema is up to date\n')
  if (backup !== undefined)
    context.stdout.write(`kept the database from before as ${backup}; ${wayBack(backup)}\n`)
}

async function recordSteps(tx: Tx, context: CommandContext, steps: readonly string[]): Promise<void> {
  const changes = changesBetween(undefined, { steps })
  const target = { kind: 'database', id: null }
  await recordEntry(tx, commandRecord(context, 'db.migrate', target, changes), systemClock.now())
}

/** `platform db status`: prints the applied and the pending migrations. */
export async function showDatabaseStatus(context: CommandContext, options: ConfigOptions): Promise<void> {
  const { applied, pending, unknown } = await withDatabase(configOf(context, options), (store) =>
    schemaStatus(store),
  )
  const rows = [
    ...applied.map(({ name, appliedAt }) => [name, `applied ${toRfc3339(appliedAt)}`]),
    ...unknown.map(({ name, appliedAt }) => [name, `applied ${toRfc3339(appliedAt)} by a newer release`]),
    ...pending.map((name) => [name, 'pending']),
  ]
  context.stdout.write(alignColumns([['STEP', 'STATE'], ...rows]))
}
