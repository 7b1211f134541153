import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseLocation } from '../../config/address-types.ts'
import { recordEntry } from '../../domains/audit/index.ts'
import { changesBetween } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { alignColumns } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import {
  compareDatabases,
  copyDatabase,
  type ComparedTable,
  type CopyObserver,
} from '../../store/copy/copy-database.ts'
import { schemaStatus } from '../../store/migrate.ts'
import type { DatabaseAddress } from '../../store/open.ts'
import type { Store, Tx } from '../../store/store.ts'
import { unusableDatabase, type DatabasePlaces } from '../database.ts'
import {
  leftFileNotice,
  loneKeyNotice,
  requireNoLostDatabase,
  requireNoLostSchema,
} from '../lost-database.ts'
import { migrateDatabaseFile, wayBack } from '../migration-backup.ts'
import { createSigningKeys } from '../signing-keys.ts'
import {
  commandRecord,
  configOf,
  withDatabase,
  withProgress,
  withStore,
  type CommandContext,
  type ConfigOptions,
} from './context.ts'

/**
 * `platform db migrate`: creates the database, or migrates it to the current schema. With `--new` it also creates an empty
 * database in the place of a lost one, and a lost signing key.
 */
export async function migrateDatabase(
  context: CommandContext,
  options: ConfigOptions & { readonly new?: boolean },
): Promise<void> {
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

interface CopyOptions extends ConfigOptions {
  readonly to?: string
  readonly toFile?: string
  readonly verify?: boolean
}

/** `platform db copy`: copies the configured database to another one, or compares both, and prints every table. */
export async function copyToDatabase(context: CommandContext, options: CopyOptions): Promise<void> {
  const loaded = configOf(context, options)
  const target = targetOf(context, options)
  // The source exists, and has the schema of this release.
  await withStore(loaded, async () => undefined)
  let step = 'opening the databases'
  const observe: CopyObserver = (what, table, rows) =>
    (step = `${what} ${table}${rows === undefined ? '' : `: ${rows} rows`}`)
  const work = options.verify === true ? compareDatabases : copyDatabase
  const copying = work(loaded.config.database, target, observe).catch((error: unknown) => {
    throw explainError(error, { database: target, addressIn: options.toFile ?? '--to' })
  })
  const tables = await withProgress(context, () => step, copying)
  context.stdout.write(tableOf(tables))
  requireEqual(tables)
  const copied = tables.filter(({ isEqual }) => isEqual)
  const rows = copied.reduce((sum, each) => sum + each.rows, 0)
  const outcome = options.verify === true ? 'equal' : 'copied and compared'
  context.stdout.write(
    `${outcome}: ${rows} rows of ${copied.length} tables, to ${databaseLocation.format(target)}\n`,
  )
}

function targetOf({ cwd }: CommandContext, { to, toFile }: CopyOptions): DatabaseAddress {
  if ((to === undefined) === (toFile === undefined))
    throw wrongTarget('Name the target by --to or by --to-file')
  const text = to ?? readFileSync(resolve(cwd, toFile ?? ''), 'utf8').trim()
  const isAddress = /^(?:postgres(?:ql)?|sqlite):/.test(text)
  const location = isAddress ? databaseLocation.parse(text, cwd) : undefined
  if (location) return location
  throw wrongTarget(`${to === undefined ? toFile : '--to'} is no address of a database`)
}

function wrongTarget(what: string): AppError {
  return new AppError('invalid', 'wrong_target', `${what}: postgres://host/database, or sqlite:PATH.`)
}

function explainError(error: unknown, target: DatabasePlaces): AppError {
  if (error instanceof AppError && error.code !== 'store_unavailable')
    return new AppError(error.kind, error.code, `${error.message} (${error.code})`)
  if (error instanceof AppError) return unusableDatabase(target, error)
  const message = `The copy was cut off: ${errorMessage(error)}. Repeat the command, which goes on.`
  return new AppError('unavailable', 'copy_cut_off', message, { cause: error })
}

function tableOf(tables: readonly ComparedTable[]): string {
  const rows = tables.map(({ table, rows: count, targetRows, isEqual }) => [
    table,
    String(count),
    String(targetRows),
    isEqual === undefined ? 'left out' : isEqual ? 'equal' : 'differs',
  ])
  return alignColumns([['TABLE', 'ROWS', 'IN TARGET', 'CONTENT'], ...rows])
}

function requireEqual(tables: readonly ComparedTable[]): void {
  const names = tables.filter(({ isEqual }) => isEqual === false).map(({ table }) => table)
  if (names.length === 0) return
  throw new AppError('conflict', 'databases_differ', `The databases differ in ${names.join(', ')}.`)
}
