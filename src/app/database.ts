import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { databaseLocation } from '../config/address-types.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError, errorMessage } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { migrate, requireCurrentSchema } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

export interface DatabaseParts {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  /** For a program that serves read-only: it does not even tidy up after another one that crashed. */
  readonly readOnly?: boolean
}

/**
 * Opens the configured database as it is, and makes sure that it answers; a SQLite file is made when it is not there.
 * The caller closes it. Rejects with `store_unavailable`, which names the database.
 */
export async function openDatabase({
  config,
  logger,
  metrics,
  readOnly = false,
}: DatabaseParts): Promise<Store> {
  const { database } = config
  const store = await openStore({ database, readOnly, clock: systemClock, metrics, logger })
  try {
    await store.check()
    return store
  } catch (error) {
    await store.close()
    throw unusable(databaseLocation.format(database), error)
  }
}

/** Opens the configured database with the current schema; a program that is read-only finds it so, or refuses. */
export async function openCurrentDatabase(parts: DatabaseParts): Promise<Store> {
  const { config, logger } = parts
  if (config.readOnly) requireFile(config)
  const store = await openDatabase(parts)
  try {
    warnWhenReadable(parts)
    if (config.readOnly) {
      await requireCurrentSchema(store)
    } else {
      const steps = await migrate(store, systemClock)
      if (steps.length > 0) logger.info({ steps }, 'brought the schema up to date')
    }
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

function requireFile({ database }: Config): void {
  if (database.kind !== 'sqlite' || existsSync(database.path)) return
  throw new AppError(
    'unavailable',
    'schema_outdated',
    `There is no database ${database.path}, and a read-only program does not make one; run "platform db migrate".`,
  )
}

/** The mode is the operator's: a backup may read the file by its group. Nobody should have it so without knowing. */
function warnWhenReadable({ config: { database }, logger }: DatabaseParts): void {
  if (database.kind !== 'sqlite') return
  const { path } = database
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return
  const fields = { path, mode: mode.toString(8) }
  logger.warn(fields, 'others than its owner can read or write the database; unless that is meant: chmod 600')
}

function unusable(name: string, error: unknown): AppError {
  const cause = error instanceof AppError ? error.cause : error
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The database ${name} cannot be used: ${reasonOf(cause)}.`,
    { cause },
  )
}

/** A name with several addresses fails once for each, and the sum of them has no text of its own. */
function reasonOf(cause: unknown): string {
  return cause instanceof AggregateError ? cause.errors.map(errorMessage).join(', ') : errorMessage(cause)
}
