import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { databaseLocation } from '../config/address-types.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError, errorMessage } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { toRfc3339 } from '../kernel/time.ts'
import { isForbidden, postgresRemedy } from '../store/dialects/postgres-failure.ts'
import { isDamaged, explainSqliteFailure } from '../store/dialects/sqlite-errors.ts'
import { lastMigrationAt, requireCurrentSchema, schemaStatus } from '../store/migrate.ts'
import type { MonitoredStore } from '../store/monitor.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { TransactionTimedOut } from '../store/unavailable.ts'
import {
  restoreRemedy,
  leftFileNotice,
  loneKeyNotice,
  requireNoLostDatabase,
  requireNoLostSchema,
} from './lost-database.ts'
import { migrateDatabaseFile, wayBack } from './migration-backup.ts'

export interface DatabaseParts {
  readonly config: Config
  /** For the commands of errors: with another one they would use another database. */
  readonly configFile?: string | undefined
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
export async function openDatabase(parts: DatabaseParts): Promise<MonitoredStore> {
  const { config, configFile, logger, metrics, readOnly = false } = parts
  const { database } = config
  const places = { ...config, configFile }
  requireFile(parts)
  const options = { database, readOnly, clock: systemClock, metrics, logger }
  const store = await openStore(options).catch((error: unknown) => {
    throw explainRefusal(places, error)
  })
  try {
    await store.check()
    return store
  } catch (error) {
    await store.close()
    throw unusableDatabase(places, error)
  }
}

/** Opens the configured database with the current schema: a read-only program requires it, others migrate to it. */
export async function openCurrentDatabase(parts: DatabaseParts): Promise<MonitoredStore> {
  const { config, configFile, logger, mustExist } = parts
  const places = { ...config, configFile }
  if (mustExist === undefined && !config.readOnly) {
    requireNoLostDatabase(places)
    const notice = loneKeyNotice(places)
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
      if (mustExist === undefined) await requireNoLostSchema(store, places)
      await reportLeftFile(store, parts)
      const { steps, backup } = await migrateDatabaseFile(store, { config, clock: systemClock })
      // One text: in a list the name after `…-api-tokens` would be taken for a token.
      if (steps.length > 0) logger.info({ steps: steps.join(' ') }, 'migrated the schema')
      if (backup !== undefined) logger.info({ backup }, `kept the database from before; ${wayBack(backup)}`)
    }
    await reportLateClock(store, logger)
    return store
  } catch (error) {
    await store.close()
    throw explainRefusal(places, error)
  }
}

/** An administrator who only sets `database.url` would miss everything. */
async function reportLeftFile(store: Store, { config, logger }: DatabaseParts): Promise<void> {
  const notice = leftFileNotice(config)
  if (notice === undefined || (await schemaStatus(store)).applied.length > 0) return
  logger.error({}, notice)
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

/** Where the database is, and the backups of it. */
export interface DatabasePlaces extends Pick<Config, 'database'>, Partial<Pick<Config, 'dataDir'>> {
  readonly configFile?: string | undefined
  /** Where the address of a server stands, if not in the configuration. */
  readonly addressIn?: string | undefined
}

export function unusableDatabase(places: DatabasePlaces, error: unknown): AppError {
  const cause = error instanceof AppError ? (error.cause ?? error) : error
  const { reason, remedy } = explainDatabaseFailure(places, cause)
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The database ${databaseLocation.format(places.database)} cannot be used: ${reason}. ${remedy}.`,
    { cause },
  )
}

/** The error of what has used the database: if the engine refuses it, such as for a damaged file or a full disk, it says what to do. */
export function explainRefusal(places: DatabasePlaces, error: unknown): unknown {
  if (error instanceof TransactionTimedOut) return error
  // Another code is that of another file, such as a backup.
  if (error instanceof AppError && error.code !== 'store_unavailable') return error
  const cause = error instanceof AppError ? error.cause : error
  const isRefusal = error instanceof AppError ? cause !== undefined : isDamaged(cause) || isForbidden(cause)
  return isRefusal ? unusableDatabase(places, cause) : error
}

/** Why the database cannot be used, and what to do; both without a full stop. */
export function explainDatabaseFailure(
  { database, dataDir, configFile, addressIn }: DatabasePlaces,
  cause: unknown,
): { readonly reason: string; readonly remedy: string } {
  if (database.kind === 'postgres')
    return { reason: reasonOf(cause), remedy: postgresRemedy(cause, addressIn) }
  const failure = explainSqliteFailure(database.path, cause)
  if (dataDir === undefined || !isDamaged(cause)) return failure
  return {
    ...failure,
    remedy: `Stop the platform, then run: ${restoreRemedy({ database, dataDir, configFile })}`,
  }
}

/** A host name with several addresses fails with an AggregateError, whose own message is empty. */
function reasonOf(cause: unknown): string {
  const reason =
    cause instanceof AggregateError ? cause.errors.map(errorMessage).join(', ') : errorMessage(cause)
  // It stands inside a sentence.
  return reason.replace(/\.$/, '')
}
