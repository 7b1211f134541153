import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Histogram, Metrics } from '../kernel/metrics.ts'
import { backoffMs } from '../kernel/waiting.ts'
import { bindTrace } from '../kernel/trace.ts'
import { callListeners, type Tx, type TransactionCallback, type WriteOptions } from './store.ts'
import { ReusableTimeout, transactionTimeout, WriteLockHeld } from './unavailable.ts'

/** The transaction statements of an engine with one writer; all are synchronous. */
export interface GroupConnection {
  /** `false` when another process holds the write lock. */
  begin(): boolean
  /** Grows with each row that a statement has changed. */
  readonly changes: number
  /** Whether the transaction is still open: the engine rolls it back by itself when the disk is full or fails. */
  readonly isOpen: boolean
  savepoint(): void
  release(): void
  /** Rolls back to the savepoint; `false` when the engine has already rolled back the whole transaction. */
  undo(): boolean
  commit(): void
  rollback(): void
  /** A `Tx` for the callback of one write. */
  transaction(onCommit: (listener: () => void) => void): OpenTransaction
}

export interface OpenTransaction {
  readonly tx: Tx
  /** Makes the `Tx` reject its statements from now on. */
  end(): void
}

interface Job {
  /** When it was enqueued, by the monotonic clock. */
  readonly since: number
  readonly run: (tx: Tx) => Promise<void>
  readonly longRunning: boolean
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
  listeners: (() => void)[]
}

export interface WriteQueueOptions {
  readonly connection: GroupConnection
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly unavailable: (cause: unknown) => unknown
  /** The time limit for the callback of one write, in milliseconds. */
  readonly transactionMs: number
}

// Bounds the time for which one commit holds the event loop to a few milliseconds.
const GROUP_LIMIT = 256
// The clients that one commit has answered come back within a few turns. Under constant load there is always one more,
// and the first write of a group must not wait for it.
const BURST_TURNS = 4
// A longer queue means that the disk has stopped; a quick refusal is better than a timeout of every client.
const QUEUE_LIMIT = 20_000
// docs/reliability.md, R-25: locks: requests wait up to 5 s for a lock held elsewhere.
const LOCK_TIMEOUT_MS = 5_000
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** A write has failed after it changed rows: the group is rolled back and run again with savepoints. */
class PartialWriteError extends Error {
  /** The failure, as its caller gets it. */
  readonly failure: unknown

  constructor(failure: unknown) {
    super('partial write')
    this.failure = failure
  }
}

/**
 * Group commit: all writes that arrive in one burst share one transaction, and so one fsync. A slow disk makes the
 * groups larger, not the queue longer.
 *
 * A write that fails does not affect the others. Most failures come before any change, so there is nothing to undo.
 * When one comes after a change, the group is run again with a savepoint around each write, unless it is alone. Savepoints for every group
 * would double the cost of the statements: the engine copies each page that changes inside one.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #commitSeconds: Histogram
  readonly #groupSize: Histogram
  readonly #timeout: ReusableTimeout
  #waiting: Job[] = []
  #running: Promise<void> | undefined

  constructor(options: WriteQueueOptions) {
    this.#options = options
    this.#timeout = new ReusableTimeout(options.transactionMs)
    const { metrics } = options
    this.#commitSeconds = metrics.histogram({
      name: 'store_commit_seconds',
      help: 'Time from the start of a group of writes to the end of its durable commit.',
      buckets: COMMIT_BUCKETS,
    })
    this.#groupSize = metrics.histogram({
      name: 'store_commit_group_size',
      help: 'Writes that shared one commit.',
      buckets: GROUP_BUCKETS,
    })
    const length = metrics.gauge({ name: 'store_write_queue_length', help: 'Writes that wait for a commit.' })
    metrics.onScrape(() => length.set(this.#waiting.length))
  }

  write<T>(work: TransactionCallback<T>, { longRunning = false }: WriteOptions = {}): Promise<T> {
    if (this.#waiting.length >= QUEUE_LIMIT) {
      return Promise.reject(this.#options.unavailable(new Error(`${QUEUE_LIMIT} writes are waiting already`)))
    }
    return new Promise<T>((resolve, reject) => {
      let result: T
      this.#waiting.push({
        since: this.#options.clock.monotonic(),
        run: async (tx) => {
          result = await work(tx)
        },
        longRunning,
        succeed: () => resolve(result),
        fail: reject,
        listeners: [],
      })
      this.#running ??= this.#drain()
    })
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather()
      const group = this.#waiting.splice(0, GROUP_LIMIT)
      await this.#runGroup(group)
    }
    this.#timeout.clear()
    this.#running = undefined
  }

  /** Ends with the first turn in which no write has arrived: the writes of a burst share one commit. */
  async #gather(): Promise<void> {
    for (let turn = 0, seen = 0; turn < BURST_TURNS && seen < this.#waiting.length; turn++) {
      seen = this.#waiting.length
      await nextTurn()
    }
  }

  async #runGroup(group: readonly Job[]): Promise<void> {
    try {
      const outcome = await this.#transaction(group, this.#runBare)
      for (const settle of outcome) settle()
    } catch (error) {
      // The engine's rollback can fail, for example. No write may be left pending, and the queue goes on.
      const failure = toFailure(error, this.#options.unavailable)
      for (const job of group) job.fail(failure)
    }
  }

  /** Runs the jobs and commits; returns the calls that settle them, for when the outcome is final. */
  async #transaction(
    jobs: readonly Job[],
    runJob: (job: Job) => Promise<() => void>,
  ): Promise<(() => void)[]> {
    const { clock, connection, unavailable } = this.#options
    const group = await this.#begin(jobs)
    if (group.length === 0) return []
    const start = clock.monotonic()
    try {
      const outcome: (() => void)[] = []
      for (const job of group) outcome.push(await runJob(job))
      // The commit waits for the disk on the event loop; a turn of its own adds nothing to that wait.
      await nextTurn()
      connection.commit()
      await nextTurn()
      this.#commitSeconds.observe((clock.monotonic() - start) / 1_000)
      this.#groupSize.observe(group.length)
      return outcome
    } catch (error) {
      connection.rollback()
      const isPartial = error instanceof PartialWriteError
      if (isPartial && group.length > 1) return this.#transaction(group, this.#runInSavepoint)
      const failure = isPartial ? error.failure : toFailure(error, unavailable)
      return group.map((job) => () => job.fail(failure))
    }
  }

  /** Waits for the write lock; returns the jobs that have not timed out meanwhile. */
  async #begin(group: readonly Job[]): Promise<readonly Job[]> {
    const { connection, unavailable } = this.#options
    for (let left = group, attempt = 0; ; attempt++) {
      try {
        if (connection.begin()) return left
      } catch (error) {
        for (const job of left) job.fail(toFailure(error, unavailable))
        return []
      }
      left = this.#withoutTimedOut(left)
      if (left.length === 0) return []
      // Waiting inside the engine would stop the event loop, and with it every client.
      await pause(backoffMs(LOCK_BACKOFF, attempt))
    }
  }

  #withoutTimedOut(group: readonly Job[]): readonly Job[] {
    const { clock, unavailable } = this.#options
    const latest = clock.monotonic() - LOCK_TIMEOUT_MS
    for (const job of group) {
      if (job.since <= latest) job.fail(unavailable(new WriteLockHeld()))
    }
    return group.filter(({ since }) => since > latest)
  }

  readonly #runBare = async (job: Job): Promise<() => void> => {
    const { connection, unavailable } = this.#options
    const before = connection.changes
    try {
      await this.#run(job)
    } catch (error) {
      // The engine has rolled back by itself when the disk is full or fails.
      if (!connection.isOpen) throw new PartialWriteError(toFailure(error, unavailable))
      if (connection.changes !== before) throw new PartialWriteError(error)
      return () => job.fail(error)
    }
    return () => this.#succeed(job)
  }

  readonly #runInSavepoint = async (job: Job): Promise<() => void> => {
    const { connection } = this.#options
    connection.savepoint()
    try {
      await this.#run(job)
      connection.release()
    } catch (error) {
      // The engine rolls back the whole transaction, all jobs of the group, when the disk is full or fails.
      if (!connection.undo()) throw error
      return () => job.fail(error)
    }
    return () => this.#succeed(job)
  }

  async #run(job: Job): Promise<void> {
    const listeners: (() => void)[] = []
    job.listeners = listeners
    const { tx, end } = this.#options.connection.transaction((listener) =>
      listeners.push(bindTrace(listener)),
    )
    try {
      await (job.longRunning ? job.run(tx) : this.#limit(job.run(tx)))
    } finally {
      end()
    }
  }

  #succeed(job: Job): void {
    job.succeed()
    callListeners(job.listeners, this.#options.logger)
  }

  /** Every other write waits for the running one. */
  #limit(run: Promise<void>): Promise<void> {
    return this.#timeout.race(run, () => transactionTimeout(this.#options.transactionMs))
  }
}

function toFailure(error: unknown, unavailable: (cause: unknown) => unknown): unknown {
  return error instanceof AppError ? error : unavailable(error)
}
