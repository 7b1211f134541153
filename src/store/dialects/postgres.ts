import { Kysely, PostgresDialect } from 'kysely'
import { Pool, types, type CustomTypesConfig } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Histogram, Metrics } from '../../kernel/metrics.ts'
import { backoffMs } from '../../kernel/retry.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Queries, Store, Tx, Work } from '../store.ts'
import type { Tables } from '../tables.ts'
import { CAPABILITIES } from './capabilities.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5_000
const RETRY_LIMIT = 10
const RETRY_BACKOFF = { initialMs: 5, maximumMs: 250 }

// https://www.postgresql.org/docs/15/errcodes-appendix.html
const RETRYABLE = new Set(['40001', '40P01'])
// Classes: connection exception, insufficient resources, operator intervention, system error.
const FAILURE_CLASSES = new Set(['08', '53', '57', '58'])
const NETWORK_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

export interface PostgresOptions {
  readonly url: Secret
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** PostgreSQL by `pg`: every write is a transaction of its own on a pooled connection. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'platform',
    types: CHECKED_NUMBERS,
  })
  // An idle connection that the server ends is replaced at its next use; unheard, the event would end the process.
  pool.on('error', (error) => options.logger.warn({ error }, 'a database connection was lost'))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const read = queriesOn(db)
  const commitSeconds = options.metrics.histogram({
    name: 'store_commit_seconds',
    help: 'Time from the start of a write to the end of its durable commit.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  })
  const queue = options.metrics.gauge({
    name: 'store_write_queue_length',
    help: 'Writes that wait for a connection.',
  })
  options.metrics.onScrape(() => queue.set(pool.waitingCount))
  // The pool forgets who waits for a connection when it is closed.
  const underWay = new Set<Promise<unknown>>()
  const tracked = async <T>(write: Promise<T>): Promise<T> => {
    underWay.add(write)
    try {
      return await write
    } finally {
      underWay.delete(write)
    }
  }
  const close = async () => {
    await Promise.allSettled(underWay)
    await db.destroy()
  }
  let closing: Promise<void> | undefined
  return {
    capabilities: CAPABILITIES.postgres,
    read,
    write: (work) => tracked(timed(options.clock, commitSeconds, () => writeWithRetry(db, work))),
    readAside: async (query) => (await db.executeQuery(query.compile())).rows,
    check: async () => {
      await pool.query('select 1').catch((error: unknown) => {
        throw translated(error)
      })
    },
    close: () => (closing ??= close()),
  }
}

async function timed<T>(clock: Clock, seconds: Histogram, run: () => Promise<T>): Promise<T> {
  const start = clock.monotonic()
  try {
    return await run()
  } finally {
    seconds.observe((clock.monotonic() - start) / 1_000)
  }
}

async function writeWithRetry<T>(db: Kysely<Tables>, work: Work<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const listeners: (() => void)[] = []
    try {
      const result = await db.transaction().execute((transaction) => {
        const tx: Tx = { ...queriesOn(transaction), afterCommit: (listener) => listeners.push(listener) }
        return work(tx)
      })
      for (const listener of listeners) listener()
      return result
    } catch (error) {
      if (!RETRYABLE.has(errorCode(error))) throw translated(error)
      if (attempt >= RETRY_LIMIT) throw unavailable(error)
    }
    await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY_BACKOFF, attempt)))
  }
}

function queriesOn(db: Kysely<Tables>): Queries {
  return {
    db,
    capabilities: CAPABILITIES.postgres,
    async run(statement, parameters) {
      const { query } = statement.bind('postgres', db, parameters)
      try {
        return (await db.executeQuery(query)).rows as never[]
      } catch (error) {
        throw translated(error)
      }
    },
  }
}

/** What the caller is told; a serialization failure inside a transaction must reach the retry as it is. */
function translated(error: unknown): unknown {
  return isFailure(error) ? unavailable(error) : error
}

function isFailure(error: unknown): boolean {
  const code = errorCode(error)
  if (FAILURE_CLASSES.has(code.slice(0, 2)) || NETWORK_FAILURES.has(code)) return true
  // The driver gives these two no code.
  return (
    error instanceof Error &&
    /connection terminated|timeout exceeded when trying to connect/i.test(error.message)
  )
}

function unavailable(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    'The database cannot take this call now; try again.',
    {
      cause,
      retryAfterSeconds: 1,
    },
  )
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

const INT8 = 20

/** int8 as a number, and an error instead of a wrong number beyond 2^53. */
const CHECKED_NUMBERS: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? checkedNumber : types.getTypeParser(oid, format)) as never,
}

function checkedNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the database answered ${text}, which is beyond 2^53`)
  return value
}
