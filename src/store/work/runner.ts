import type { WaitingClock } from '../../kernel/clock.ts'
import { type Logger, createOutage, type Outage } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import { type Backoff, backoffMs } from '../../kernel/waiting.ts'
import { CLOCK_DIFFERENCE_MS, SECOND } from '../../kernel/time.ts'
import { continuedTrace, runInSpan } from '../../kernel/trace.ts'
import { newHolder } from './holder.ts'
import type { Store, Tx } from '../store.ts'

/** The part of a row that the runner needs. */
export interface WorkItem {
  readonly id: string
  /** Attempts so far, this one included. */
  readonly attempts: number
  /** When it was queued, in epoch milliseconds. */
  readonly queuedAt: number
  /** The trace of the request that queued it (`storedTrace`); null if there was none. */
  readonly trace: string | null
}

/** The lease of a holder on a row. */
export interface WorkLease {
  readonly holder: string
  /** When it expires. */
  readonly until: number
}

export interface WorkClaim extends WorkLease {
  readonly now: number
  /** Rows that are due later than after this time were written before the clock was set back: they are due now. */
  readonly longestPauseMs: number
  readonly limit: number
  /**
   * Ids of the items that the holder already works on. If the process was suspended, their leases may have expired; the
   * holder continues with them unless another holder has claimed them.
   */
  readonly except: readonly string[]
}

export type WorkOutcome<Result> =
  | { readonly status: 'done'; readonly result: Result }
  /** Due again at that time. */
  | { readonly status: 'retry'; readonly at: number; readonly error: unknown }
  /** The runner stops. Due again at that time, unless the work must not be repeated. */
  | { readonly status: 'interrupted'; readonly at: number; readonly error: unknown }
  | { readonly status: 'failed'; readonly error: unknown }

export interface RunnerOptions<Item extends WorkItem, Result> {
  /** Also the label of its metrics; kebab-case. */
  readonly name: string
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  /** The longest pause between two claims, in milliseconds. */
  readonly everyMs: number
  /** After this time without a renewal another process may claim an item, in milliseconds. */
  readonly leaseMs: number
  /** How many items it works on at a time. */
  readonly concurrency: number
  /** The pauses between the attempts at an item, and the time after which the runner gives up. */
  readonly retry: Backoff & { readonly giveUpAfterMs: number }
  /** Claims due rows by compare-and-set, except rows with a valid lease and those of `claim.except`. */
  readonly claim: (tx: Tx, claim: WorkClaim) => Promise<readonly Item[]>
  /** Extends the lease of that holder's attempt (`item.attempts`); `false` when the row was claimed again. */
  readonly renew: (tx: Tx, item: Item, lease: WorkLease) => Promise<boolean>
  /**
   * Does the work. It may run twice for an item, when a process dies or loses its lease. It must end soon after `signal`
   * is aborted. A rejection is retried, so return a permanent failure as a result.
   */
  readonly work: (item: Item, signal: AbortSignal) => Promise<Result>
  /** Records the outcome and ends the lease; `false`, and changes nothing, when the row was claimed again. */
  readonly settle: (tx: Tx, item: Item, holder: string, outcome: WorkOutcome<Result>) => Promise<boolean>
}

const SETTLED = ['done', 'retry', 'interrupted', 'failed', 'lost'] as const
type Settled = (typeof SETTLED)[number]

const SETTLE_BACKOFF = { initialMs: 100, maximumMs: 5 * SECOND }

class LeaseLost extends Error {
  constructor() {
    super('The lease was lost: another process may work on the same item.')
  }
}

/**
 * Carries out work that outlives its request. The request commits a row as queued and wakes the runner after the
 * commit; a runner of any process claims the row under a lease, works on it, and settles it. When a process dies, its
 * lease expires and another runner claims the row. It knows no table: the domain gives the statements.
 */
export class Runner<Item extends WorkItem, Result> {
  readonly #options: RunnerOptions<Item, Result>
  readonly #holder = newHolder()
  readonly #stopping = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  readonly #items: Counter
  readonly #outage: Outage
  #pause = new AbortController()
  #loop: Promise<void> | undefined

  constructor(options: RunnerOptions<Item, Result>) {
    const { name, clock, logger, metrics } = options
    this.#options = options
    this.#outage = createOutage(logger, 'work', { clock, runner: name })
    this.#items = metrics.counter({
      name: 'work_attempts_total',
      help: 'Attempts at queued work by outcome.',
      labels: { name: [name], outcome: SETTLED },
    })
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  /** Claims work at once; to be called in `tx.afterCommit`. */
  wake(): void {
    this.#pause.abort()
  }

  /** Claims no more, aborts the signal of the running work and waits for it; may be called twice. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#loop
    await Promise.all(this.#running.values())
  }

  async #run(): Promise<void> {
    const { clock, everyMs } = this.#options
    while (!this.#stopping.signal.aborted) {
      // Created before the claim, so that a `wake` during the claim ends the pause after it.
      this.#pause = new AbortController()
      await this.#claim()
      if (!this.#stopping.signal.aborted) await clock.wait(everyMs, this.#pause.signal)
    }
  }

  async #claim(): Promise<void> {
    const { clock, store, concurrency, claim, leaseMs, retry } = this.#options
    const limit = concurrency - this.#running.size
    if (limit <= 0) return
    const since = clock.monotonic()
    try {
      const now = clock.now()
      const except = [...this.#running.keys()]
      const longestPauseMs = Math.max(leaseMs, retry.maximumMs) + CLOCK_DIFFERENCE_MS
      const request = { holder: this.#holder, now, until: now + leaseMs, longestPauseMs, limit, except }
      const items = await store.write(async (tx) => {
        const claimed = await claim(tx, request)
        // Rolls the claim back: another runner can work on what this one could only interrupt.
        this.#stopping.signal.throwIfAborted()
        return claimed
      })
      this.#outage.works()
      for (const item of items) this.#begin(item, since)
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#outage.fails(error)
    }
  }

  #begin(item: Item, since: number): void {
    const span = { name: `work ${this.#options.name}`, kind: 'internal' } as const
    const work = () => this.#process(item, since)
    const run = runInSpan(continuedTrace(item.trace), span, work).finally(() => {
      this.#running.delete(item.id)
      this.wake()
    })
    this.#running.set(item.id, run)
  }

  async #process(item: Item, since: number): Promise<void> {
    const lost = new AbortController()
    const settled = new AbortController()
    const renewing = this.#renewUntil(settled.signal, item, since, lost)
    const outcome = await this.#attempt(item, AbortSignal.any([this.#stopping.signal, lost.signal]))
    const isSettled = await this.#settle(item, outcome, lost.signal)
    settled.abort()
    await renewing
    this.#record(item, outcome, isSettled ? outcome.status : 'lost')
  }

  async #attempt(item: Item, signal: AbortSignal): Promise<WorkOutcome<Result>> {
    const { clock, retry, work } = this.#options
    const giveUpAt = item.queuedAt + retry.giveUpAfterMs
    // An item that crashes its process at each attempt never rejects, so it is given up here.
    if (item.attempts > 1 && clock.now() >= giveUpAt)
      return { status: 'failed', error: new Error('The item was given up: its last attempt has not ended.') }
    try {
      return { status: 'done', result: await work(item, signal) }
    } catch (error) {
      const now = clock.now()
      if (this.#stopping.signal.aborted) return { status: 'interrupted', at: now, error }
      const at = now + Math.ceil(backoffMs(retry, item.attempts - 1))
      return at < giveUpAt ? { status: 'retry', at, error } : { status: 'failed', error }
    }
  }

  /** Repeats the settlement while the lease is valid; `false` when it was lost. */
  async #settle(item: Item, outcome: WorkOutcome<Result>, lost: AbortSignal): Promise<boolean> {
    const { clock, logger, name, store, settle } = this.#options
    for (let attempt = 0; !lost.aborted; attempt++) {
      try {
        return await store.write((tx) => settle(tx, item, this.#holder, outcome))
      } catch (error) {
        logger.warn({ runner: name, id: item.id, error }, 'the outcome of queued work cannot be recorded yet')
        if (this.#stopping.signal.aborted) return false
      }
      await clock.wait(backoffMs(SETTLE_BACKOFF, attempt), AbortSignal.any([lost, this.#stopping.signal]))
    }
    return false
  }

  /** Extends the lease every third of its time. `since`: when it began, by the monotonic clock. */
  async #renewUntil(settled: AbortSignal, item: Item, since: number, lost: AbortController): Promise<void> {
    const { clock, leaseMs } = this.#options
    let renewedAt = since
    for (;;) {
      await clock.wait(leaseMs / 3, settled)
      if (settled.aborted) return
      const start = clock.monotonic()
      const isRenewed = await this.#renew(item)
      if (isRenewed) renewedAt = start
      // The work has the last third of the lease to stop.
      const isExpiring = clock.monotonic() - renewedAt >= (leaseMs * 2) / 3
      if (isRenewed === false || isExpiring) return lost.abort(new LeaseLost())
    }
  }

  /** Undefined when the database could not be reached. */
  async #renew(item: Item): Promise<boolean | undefined> {
    const { clock, leaseMs, store, renew } = this.#options
    const lease = { holder: this.#holder, until: clock.now() + leaseMs }
    try {
      return await store.write((tx) => renew(tx, item, lease))
    } catch {
      return undefined
    }
  }

  #record(item: Item, outcome: WorkOutcome<Result>, settled: Settled): void {
    const { clock, logger, name } = this.#options
    this.#items.increment({ name, outcome: settled })
    const fields = { runner: name, id: item.id, attempts: item.attempts }
    const error = outcome.status === 'done' ? undefined : outcome.error
    if (settled === 'lost') logger.warn({ ...fields, error }, 'the lease of queued work was lost')
    if (settled === 'failed') logger.error({ ...fields, error }, 'queued work has failed and was given up')
    if (settled === 'interrupted')
      logger.info({ ...fields, error }, 'queued work was interrupted by the stop of this process')
    if (settled !== 'retry' || outcome.status !== 'retry') return
    logger.warn({ ...fields, error }, 'queued work has failed and is retried')
    void clock.wait(outcome.at - clock.now(), this.#stopping.signal).then(() => this.wake())
  }
}
