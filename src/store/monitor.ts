import { randomBytes } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { type Logger, createOutage, type Outage } from '../kernel/logger.ts'
import type { Counter, Gauge, Metrics } from '../kernel/metrics.ts'
import { SECOND } from '../kernel/time.ts'
import { bindWork, runInPart } from '../kernel/trace.ts'
import { isDamaged } from './dialects/sqlite-errors.ts'
import { requestCheck } from './work/marks.ts'
import { changeRows } from './tables.ts'
import type { Store, TransactionCallback, WriteOptions } from './store.ts'
import { withTimeout, storeUnavailable, TransactionTimedOut } from './unavailable.ts'

export interface MonitorOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** For the answer to a check, in milliseconds. */
  readonly checkMs: number
}

export interface MonitoredStore extends Store {
  /** Whether the database is unavailable as far as the last write or check says; then the log has it already. */
  isOut(): boolean
}

const OUTCOMES = ['committed', 'rolled_back', 'timed_out', 'unavailable'] as const
type Outcome = (typeof OUTCOMES)[number]

// A scrape shows the outcome of the last write or check, if it is not older than this.
const SCRAPE_AGE_MS = SECOND
// A scrape waits so long for a check; a database that hangs must not hold it up.
const SCRAPE_WAIT_MS = SECOND

// Several times what an order with its event and indexes takes: what fits for a moment on a full disk is no end of the outage.
const PROBE_BYTES = 256 * 1_024
// While changes are refused, small ones may succeed; each may end the outage, but need not look for its end.
const PROBE_PAUSE_MS = SECOND

const probe = changeRows((db, now: number, filler: string) =>
  db
    .insertInto('leases')
    .values({ name: 'store-check', holder: filler, expires_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder: filler, expires_at: now })),
)

const DAMAGED = 'the database file is damaged; "platform doctor" says what to do'

const TRANSACTION = { name: 'transaction', kind: 'internal' } as const

/**
 * The same store with metrics and a log of its outages. Its check covers writes, too: a database on a full disk answers
 * every query and takes no change. It writes once after the first write of the process, which may have started on a full
 * disk, and then only after a refused one.
 */
export function monitorStore(store: Store, options: MonitorOptions): MonitoredStore {
  const monitor = new StoreMonitor(store, options)
  return {
    ...store,
    isOut: () => monitor.isOut,
    // A group of writes runs outside of the traces of those that it contains.
    write: (work, writeOptions) => runInPart(TRANSACTION, () => monitor.write(bindWork(work), writeOptions)),
    check: () => monitor.check(),
  }
}

class StoreMonitor {
  readonly #store: Store
  readonly #options: MonitorOptions
  readonly #outage: Outage
  readonly #up: Gauge
  readonly #commits: Counter
  /** The last write of a size that counts has failed. */
  #refusesWrites = false
  #isDamaged = false
  #wantsCheck = false
  /** Undefined before the first write: a process that only reads writes nothing. */
  #isProven: boolean | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #observedAt = Number.NEGATIVE_INFINITY

  constructor(store: Store, options: MonitorOptions) {
    const { clock, logger, metrics } = options
    this.#store = store
    this.#options = options
    this.#outage = createOutage(logger, 'database', { clock, part: 'database' })
    this.#up = metrics.gauge({
      name: 'store_up',
      help: 'Whether the database can be read and takes changes (1) or not (0).',
    })
    this.#commits = metrics.counter({
      name: 'store_commits_total',
      help: 'Write transactions by outcome.',
      labels: ['outcome'],
    })
    for (const outcome of OUTCOMES) this.#count(outcome, 0)
    metrics.onScrape(() => this.#checkForScrape())
  }

  get isOut(): boolean {
    return this.#outage.isFailing
  }

  async write<T>(work: TransactionCallback<T>, options?: WriteOptions): Promise<T> {
    const result = await this.#write(work, options)
    this.#isProven ??= false
    if (this.#refusesWrites) this.#lookForEnd()
    else this.#observe()
    return result
  }

  async #write<T>(work: TransactionCallback<T>, options?: WriteOptions): Promise<T> {
    try {
      const result = await this.#store.write(work, options)
      this.#count('committed')
      return result
    } catch (error) {
      const outcome = outcomeOf(error)
      this.#count(outcome)
      if (outcome === 'unavailable') {
        this.#refusesWrites = true
        if (error instanceof AppError && isDamaged(error.cause)) this.#reportDamage(error.cause)
        else this.#observe(error)
      }
      throw error
    }
  }

  /** Other pages may work, so it is no outage. Said once; the next probe has the file checked. */
  #reportDamage(error: unknown): void {
    if (this.#isDamaged) return
    this.#isDamaged = this.#wantsCheck = true
    this.#options.logger.error({ part: 'database', error }, DAMAGED)
  }

  #lookForEnd(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#probedAt < PROBE_PAUSE_MS) return
    this.#probedAt = now
    // Its outcome is in the metrics and in the log.
    void this.check().catch(() => undefined)
  }

  async check(): Promise<void> {
    const { checkMs } = this.#options
    try {
      await withTimeout(checkMs, this.#check(), () => noAnswer(checkMs))
      if (!this.#refusesWrites) this.#observe()
    } catch (error) {
      this.#observe(error)
      throw error
    }
  }

  async #check(): Promise<void> {
    await this.#store.check()
    if (!this.#refusesWrites && this.#isProven !== false) return
    const { clock } = this.#options
    this.#probedAt = clock.monotonic()
    // PostgreSQL would compress a text that repeats itself.
    const filler = randomBytes((PROBE_BYTES * 3) / 4).toString('base64')
    await this.#write(async (tx) => {
      if (this.#wantsCheck) await requestCheck(tx)
      await probe(tx, clock.now(), filler)
    })
    this.#wantsCheck = false
    this.#refusesWrites = false
    this.#isProven = true
  }

  async #checkForScrape(): Promise<void> {
    if (this.#options.clock.monotonic() - this.#observedAt < SCRAPE_AGE_MS) return
    // Its outcome is in the metrics and in the log.
    await withTimeout(SCRAPE_WAIT_MS, this.check(), () => noAnswer(SCRAPE_WAIT_MS)).catch(() => undefined)
  }

  #observe(error?: unknown): void {
    this.#observedAt = this.#options.clock.monotonic()
    this.#up.set(error === undefined ? 1 : 0)
    if (error === undefined) this.#outage.works()
    else this.#outage.fails(error)
  }

  #count(outcome: Outcome, by = 1): void {
    this.#commits.increment({ outcome }, by)
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof TransactionTimedOut) return 'timed_out'
  return error instanceof AppError && error.code === 'store_unavailable' ? 'unavailable' : 'rolled_back'
}

function noAnswer(limitMs: number): AppError {
  return storeUnavailable(undefined, `The database has not answered within ${limitMs} ms; try again.`)
}
