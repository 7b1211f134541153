import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { databaseLocation } from '../config/address-types.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError, errorMessage } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { toRfc3339 } from '../kernel/time.ts'
import { explainSqliteFailure } from '../store/dialects/sqlite-failure.ts'
import { lastMigrationAt, requireCurrentSchema, schemaStatus } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { loneKeyNotice, requireNoLostDatabase } from './lost-database.ts'
import { migrateDatabaseFile, wayBack } from './migration-backup.ts'

export interface DatabaseParts {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  /** Opens the database without writing to it, not even to recover the log of a crashed process. */
  readonly readOnly?: boolean
  /** The database must exist; this text names its setting in the error. Without it a missing database is created. */
  readonly mustExist?: string
}

/**
 * Opens the configured database without migrating it, and checks that it responds. The caller closes it. Rejects with
 * `store_unavailable`, whose message names the database.
 */
export async function openDatabase(parts: DatabaseParts): Promise<Store> {
  const { config, logger, metrics, readOnly = false } = parts
  const { database } = config
  requireFile(parts)
  const store = await openStore({ database, readOnly, clock: systemClock, metrics, logger })
  try {
    await store.check()
    return store
  } catch (error) {
    await store.close()
    throw unusableDatabase(database, error)
  }
}

/** Opens the configured database with the current schema: a read-only program requires it, others migrate to it. */
export async function openCurrentDatabase(parts: DatabaseParts): Promise<Store> {
  const { config, logger, mustExist } = parts
  if (mustExist === undefined && !config.readOnly) {
    requireNoLostDatabase(config)
    const notice = loneKeyNotice(config)
    if (notice !== undefined) logger.warn({}, notice)
  }
  const store = await openDatabase(
    config.readOnly ? { mustExist: 'read_only is set, so it is not created', ...parts } : parts,
  )
  try {
    warnIfOthersHaveAccess(parts)
    if (mustExist !== undefined) await requireSchema(store, config, mustExist)
    if (config.readOnly) {
      await requireCurrentSchema(store)
    } else {
      const { steps, backup } = await migrateDatabaseFile(store, { config, clock: systemClock })
      // One text: in a list the name after `…-api-tokens` would be taken for a token.
      if (steps.length > 0) logger.info({ steps: steps.join(' ') }, 'migrated the schema')
      if (backup !== undefined) logger.info({ backup }, `kept the database from before; ${wayBack(backup)}`)
    }
    await reportLateClock(store, logger)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** A host that has lost its clock starts in the past; orders would expire late, and tokens would be refused. */
async function reportLateClock(store: Store, logger: Logger): Promise<void> {
  const [now, migratedAt] = [systemClock.now(), await lastMigrationAt(store)]
  if (now >= migratedAt) return
  logger.error(
    { clock: toRfc3339(now), last_migration: toRfc3339(migratedAt) },
    'the clock is before the last migration: set it, then restart the platform',
  )
}

function requireFile({ config: { database }, mustExist }: DatabaseParts): void {
  if (mustExist === undefined || database.kind !== 'sqlite' || existsSync(database.path)) return
  throw missingDatabase(`no database at ${database.path}`, mustExist)
}

/** A database without a schema is reported like a missing one. */
async function requireSchema(store: Store, { database }: Config, setting: string): Promise<void> {
  const { applied } = await schemaStatus(store)
  if (applied.length === 0)
    throw missingDatabase(`no schema in the database ${databaseLocation.format(database)}`, setting)
}

function missingDatabase(what: string, setting: string): AppError {
  const remedy =
    'Run "platform db migrate" or "platform serve" to create it, or choose another database with --config.'
  return new AppError('unavailable', 'store_unavailable', `There is ${what} (${setting}). ${remedy}`, {
    values: { missing: what },
  })
}

/** Only a warning: the mode is the operator's decision, since a backup may read the file as a member of its group. */
function warnIfOthersHaveAccess({ config: { database }, logger }: DatabaseParts): void {
  if (database.kind !== 'sqlite') return
  const { path } = database
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return
  const fields = { path, mode: mode.toString(8) }
  logger.warn(
    fields,
    'other users can read or write the database file; if that is not intended, run chmod 600',
  )
}

export function unusableDatabase(database: Config['database'], error: unknown): AppError {
  const cause = error instanceof AppError ? (error.cause ?? error) : error
  const { reason, remedy } = explainDatabaseFailure(database, cause)
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The database ${databaseLocation.format(database)} cannot be used: ${reason}. ${remedy}.`,
    { cause },
  )
}

/** Why the database cannot be used, and what to do; both without a full stop. */
export function explainDatabaseFailure(
  database: Config['database'],
  cause: unknown,
): { readonly reason: string; readonly remedy: string } {
  if (database.kind === 'sqlite') return explainSqliteFailure(database.path, cause)
  return { reason: reasonOf(cause), remedy: 'Start its server, or correct database.url (DATABASE_URL)' }
}

/** A host name with several addresses fails with an AggregateError, whose own message is empty. */
function reasonOf(cause: unknown): string {
  const reason =
    cause instanceof AggregateError ? cause.errors.map(errorMessage).join(', ') : errorMessage(cause)
  // It stands inside a sentence.
  return reason.replace(/\.$/, '')
}
