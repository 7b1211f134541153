import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { types, type CustomTypesConfig, type PoolConfig } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Histogram, Metrics } from '../../kernel/metrics.ts'
import { parsePostgresUrl, type PostgresUrl } from '../../kernel/addresses.ts'
import { backoffMs } from '../../kernel/waiting.ts'
import { Secret } from '../../kernel/secret.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import { writeSnapshot } from '../files/snapshot.ts'
import type { Queries, Store, TransactionCallback, WriteOptions } from '../store.ts'
import { type StoreLimits, storeUnavailable } from '../unavailable.ts'
import { CAPABILITIES } from './capabilities.ts'
import { dumpPostgres } from './postgres-programs.ts'
import { isRetryable } from './postgres-errors.ts'
import { TimeoutPool } from './postgres-pool.ts'
import { WriteGroups } from './postgres-groups.ts'
import { PostgresQueries, StatementNames } from './postgres-queries.ts'
import { SharedReads } from './postgres-reads.ts'
import { PostgresServers } from './postgres-servers.ts'
import { runTransaction } from './postgres-transaction.ts'

const CONNECT_TIMEOUT_MS = 5 * SECOND
// For a process that is suspended in the middle of a transaction: others wait for its locks.
const IDLE_IN_TRANSACTION_MS = 10 * SECOND
// docs/reliability.md, R-25: locks: requests wait up to 5 s for a lock held elsewhere.
const LOCK_TIMEOUT_MS = 5 * SECOND
const BEGIN_WITH_LIMITS = `
  begin;
  set local lock_timeout = ${LOCK_TIMEOUT_MS};
  set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`
const LONG_QUERY_MS = 10 * MINUTE
const RETRY_LIMIT = 10
const RETRY_BACKOFF = { initialMs: 5, maximumMs: 250 }

export interface PostgresOptions {
  readonly url: Secret
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly limits: StoreLimits
}

/** PostgreSQL by `pg`: writes that say what they touch share transactions, every other one has its own. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { clock, limits, metrics } = options
  const address = addressOf(options.url)
  const servers = new PostgresServers({ ...options, address, settings: connectionSettings(address) })
  const pool = new TimeoutPool({ servers, clock })
  const names = address.pgbouncer ? undefined : new StatementNames()
  const readWithin = (queryMs: number): Queries => {
    const reads = new SharedReads({ connect: () => pool.connect(queryMs), clock })
    return new PostgresQueries(reads, { names, inTransaction: false })
  }
  const read = readWithin(limits.queryMs)
  const longRead = readWithin(LONG_QUERY_MS)
  const runAlone = <T>(work: TransactionCallback<T>, longRunning = false): Promise<T> =>
    withRetries(async () =>
      runTransaction({
        connection: await pool.connect(longRunning ? LONG_QUERY_MS : limits.queryMs),
        names,
        logger: options.logger,
        work,
        limits: longRunning ? undefined : limits,
        begin: address.pgbouncer ? BEGIN_WITH_LIMITS : 'begin',
      }),
    )
  const connect = () => pool.connect(limits.queryMs)
  const groups = names && new WriteGroups({ ...options, connect, names, runAlone })
  const commitSeconds = createMetrics(metrics, () => servers.waiting + (groups?.waiting ?? 0))
  const write = <T>(work: TransactionCallback<T>, { longRunning, touches }: WriteOptions): Promise<T> =>
    touches && groups ? groups.write(work, touches) : runAlone(work, longRunning)
  // When it is closed, the pool drops the requests that wait for a connection.
  const running = new Set<Promise<unknown>>()
  const close = async () => {
    await Promise.allSettled(running)
    await servers.close()
  }
  let closing: Promise<void> | undefined
  return {
    capabilities: CAPABILITIES.postgres,
    read,
    write: (work, writeOptions = {}) =>
      track(
        running,
        measure(clock, commitSeconds, () => write(work, writeOptions)),
      ),
    readAside: async (query) => (await longRead.db.executeQuery(query.compile())).rows,
    snapshot: (path, snapshotOptions = {}) =>
      writeSnapshot(path, snapshotOptions, async (file) => {
        const { signal } = snapshotOptions
        const url = new Secret(await servers.url())
        await dumpPostgres(file, { url, serverMajor: await readServerMajor(read), signal })
      }),
    check: () => checkEncoding(read),
    close: () => (closing ??= close()),
  }
}

const INVALID_URL =
  'the address must be postgres://host,host/database; its parameter target_session_attrs is unknown'

function addressOf(url: Secret): PostgresUrl {
  const address = parsePostgresUrl(url.reveal())
  if (address) return address
  throw storeUnavailable(undefined, `The database cannot be used: ${INVALID_URL}.`)
}

/** Settings of a connection. PgBouncer refuses the limits there, so its transactions set them. */
function connectionSettings({ pgbouncer }: PostgresUrl): PoolConfig {
  return {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(!pgbouncer && {
      pipeline: true,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
    }),
    application_name: 'platform',
    types: CHECKED_NUMBERS,
  }
}

function createMetrics(metrics: Metrics, countWaiting: () => number): Histogram {
  const queue = metrics.gauge({
    name: 'store_write_queue_length',
    help: 'Writes that wait for a connection or for their group.',
  })
  metrics.onScrape(() => queue.set(countWaiting()))
  return metrics.histogram({
    name: 'store_commit_seconds',
    help: 'Time from the start of a write to the end of its durable commit.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  })
}

async function track<T>(running: Set<Promise<unknown>>, write: Promise<T>): Promise<T> {
  running.add(write)
  try {
    return await write
  } finally {
    running.delete(write)
  }
}

async function measure<T>(clock: Clock, seconds: Histogram, run: () => Promise<T>): Promise<T> {
  const start = clock.monotonic()
  try {
    return await run()
  } finally {
    seconds.observe((clock.monotonic() - start) / 1_000)
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isRetryable(error)) throw error
      if (attempt >= RETRY_LIMIT) throw storeUnavailable(error)
    }
    await pause(backoffMs(RETRY_BACKOFF, attempt))
  }
}

/** In another encoding texts come back changed, or are refused. */
async function checkEncoding({ db }: Queries): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`
    select current_setting('server_encoding') as encoding`.execute(db)
  const encoding = rows[0]?.encoding
  if (encoding === 'UTF8') return
  throw storeUnavailable(
    new Error(
      `its encoding is ${encoding}, it must be UTF8; create it with ENCODING 'UTF8' TEMPLATE template0`,
    ),
  )
}

/** `15` of 15.18. */
async function readServerMajor({ db }: Queries): Promise<number> {
  const { rows } = await sql<{ version: string }>`
    select current_setting('server_version_num') as version`.execute(db)
  return Math.trunc(Number(rows[0]?.version) / 10_000)
}

const INT8 = 20

/** int8 as a number, and an error instead of a wrong number beyond 2^53. */
export const CHECKED_NUMBERS: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? checkedNumber : types.getTypeParser(oid, format)) as never,
}

function checkedNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the database answered ${text}, which is beyond 2^53`)
  return value
}
