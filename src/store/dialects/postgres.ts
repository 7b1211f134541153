import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, types, type CustomTypesConfig } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Histogram, Metrics } from '../../kernel/metrics.ts'
import { backoffMs } from '../../kernel/retry.ts'
import type { Secret } from '../../kernel/secret.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import type { BoundStatement, Database } from '../statement.ts'
import type { Queries, Store, Tx, Work, WriteOptions } from '../store.ts'
import { transactionTooLong, within, type StoreLimits } from '../time-limit.ts'
import { CAPABILITIES } from './capabilities.ts'
import { attentivePool } from './postgres-pool.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5 * SECOND
// A transaction waits for nobody but the database. One that stands still belongs to a process that does, and holds up
// whoever waits for its locks: the next holder of a lease among them.
const IDLE_IN_TRANSACTION_MS = 10 * SECOND
// reliability R-25: requests wait up to 5 s for a lock held elsewhere.
const LOCK_PATIENCE_MS = 5 * SECOND
const UNHURRIED_QUERY_MS = 10 * MINUTE
const KEEP_ALIVE_MS = 10 * SECOND
const RETRY_LIMIT = 10
const RETRY_BACKOFF = { initialMs: 5, maximumMs: 250 }

// https://www.postgresql.org/docs/15/errcodes-appendix.html
const RETRYABLE = new Set(['40001', '40P01'])
const LOCK_NOT_AVAILABLE = '55P03'
const IDLE_IN_TRANSACTION = '25P03'
const PASSING_FAILURES = new Set([LOCK_NOT_AVAILABLE, IDLE_IN_TRANSACTION])
// Classes: connection exception, login refused, no such database, insufficient resources, operator intervention,
// system error.
const FAILURE_CLASSES = new Set(['08', '28', '3D', '53', '57', '58'])
const NETWORK_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

// The driver gives these no code. A transaction whose connection is lost fails with what its rollback then says.
const UNCODED_FAILURES =
  /connection terminated|timeout exceeded when trying to connect|is not queryable|client was closed/i

export interface PostgresOptions {
  readonly url: Secret
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly limits: Pick<StoreLimits, 'transactionMs' | 'queryMs'>
}

/** PostgreSQL by `pg`: every write is a transaction of its own on a pooled connection. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const pool = new Pool({
    connectionString: options.url.reveal(),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: LOCK_PATIENCE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'platform',
    types: CHECKED_NUMBERS,
  })
  // A connection that the server ends is replaced at its next use. Unheard, either event would end the process: the
  // pool speaks for the idle ones only.
  pool.on('error', () => undefined)
  pool.on('connect', (client) =>
    client.on('error', (error) => options.logger.warn({ error }, 'a database connection was lost')),
  )
  const names = new Map<string, string>()
  const hurried = attentivePool(pool, { clock: options.clock, queryMs: options.limits.queryMs, names })
  const db = new Kysely({ dialect: new PostgresDialect({ pool: hurried }) })
  const unhurried = new Kysely({
    dialect: new PostgresDialect({ pool: hurried.withLimit(UNHURRIED_QUERY_MS) }),
  })
  const read = { ...queriesOn(db, names), state: async () => undefined }
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
    await pool.end()
  }
  const write = <T>(work: Work<T>, writeOptions: WriteOptions = {}) =>
    writeOptions.unhurried
      ? writeWithRetry(unhurried, names, work)
      : writeWithRetry(db, names, inTime(work, options.limits.transactionMs))
  let closing: Promise<void> | undefined
  return {
    capabilities: CAPABILITIES.postgres,
    read,
    write: (work, writeOptions) =>
      tracked(timed(options.clock, commitSeconds, () => write(work, writeOptions))),
    readAside: async (query) => (await unhurried.executeQuery(query.compile())).rows,
    check: async () => {
      await sql`select 1`.execute(db).catch((error: unknown) => {
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

function inTime<T>(work: Work<T>, limitMs: number): Work<T> {
  return (tx) => within(limitMs, work(tx), () => transactionTooLong(limitMs))
}

async function writeWithRetry<T>(db: Database, names: Map<string, string>, work: Work<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const listeners: (() => void)[] = []
    try {
      const result = await db.transaction().execute((transaction) => {
        const tx: Tx = {
          ...queriesOn(transaction, names),
          afterCommit: (listener) => listeners.push(listener),
        }
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

/**
 * Statements that change rows and return none are prepared under a name: parsing and planning takes the server as long
 * as doing them. Those that return rows are not, for such a plan fails once another release has added a column.
 */
function queriesOn(db: Database, names: Map<string, string>): Queries {
  const execute = async ({ query }: BoundStatement) => {
    try {
      return await db.executeQuery(query)
    } catch (error) {
      throw translated(error)
    }
  }
  return {
    db,
    capabilities: CAPABILITIES.postgres,
    run: async (statement, parameters) =>
      (await execute(statement.bind('postgres', db, parameters))).rows as never[],
    async change(statement, parameters) {
      const bound = statement.bind('postgres', db, parameters)
      names.getOrInsertComputed(bound.text, () => `platform_${names.size}`)
      return Number((await execute(bound)).numAffectedRows ?? 0)
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
  if (PASSING_FAILURES.has(code)) return true
  return error instanceof Error && UNCODED_FAILURES.test(error.message)
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
