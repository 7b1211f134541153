import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Histogram, Metrics } from '../kernel/metrics.ts'
import { backoffMs } from '../kernel/retry.ts'
import type { Tx, Work, WriteOptions } from './store.ts'
import { ReusableTimeout } from './timeout.ts'
import { transactionTimeout } from './unavailable.ts'

/** The transaction statements of an engine that has one writer, all of them synchronous. */
export interface GroupConnection {
  /** Answers `false` when another process holds the write lock. */
  begin(): boolean
  /** Grows with each row that a statement has changed. */
  readonly changes: number
  /** Whether the transaction is still there: the engine drops it by itself when the disk is full or fails. */
  readonly isOpen: boolean
  savepoint(): void
  release(): void
  /** Undoes the current savepoint; answers `false` when the engine has already rolled everything back. */
  undo(): boolean
  commit(): void
  rollback(): void
  transaction(onCommit: (listener: () => void) => void): Tx
  /** Makes every transaction that was handed out so far useless to whoever still holds it. */
  revoke(): void
}

interface Job {
  /** When it was asked for, by the monotonic clock. */
  readonly since: number
  readonly run: (tx: Tx) => Promise<void>
  readonly repeatable: boolean
  readonly longRunning: boolean
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
  listeners: (() => void)[]
}

export interface WriteQueueOptions {
  readonly connection: GroupConnection
  readonly clock: Clock
  readonly metrics: Metrics
  readonly unavailable: (cause: unknown) => unknown
  /** How long the callback of one write may take, in milliseconds. */
  readonly transactionMs: number
}

// A group is bounded so that one commit never holds the event loop for longer than a few milliseconds.
const GROUP_LIMIT = 256
// The clients that one commit has answered come back within a few turns. Under load without end there is always one
// more, and the first of them shall not wait for it.
const BURST_TURNS = 4
// More than this waiting means that the disk has stopped; saying so beats letting every client time out.
const QUEUE_LIMIT = 20_000
// reliability R-25: requests wait up to 5 s for a lock held elsewhere.
const LOCK_PATIENCE_MS = 5_000
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** A write has failed with half of its work done: the group is rolled back, and done again with savepoints. */
class HalfDone extends Error {}

/**
 * Group commit: all writes that arrive in one burst share one transaction and so one fsync. A slow disk makes the
 * groups larger, not the queue longer.
 *
 * One that fails takes nothing of the others with it. Most failures are refusals that come before anything was
 * changed, and those leave nothing to undo. A group in which one fails later is done again with a savepoint around
 * each write; savepoints for all groups would double what the statements cost, since the engine keeps a copy of each
 * page that changes inside one.
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

  write<T>(work: Work<T>, { repeatable = true, longRunning = false }: WriteOptions = {}): Promise<T> {
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
        repeatable,
        longRunning,
        succeed: () => resolve(result),
        fail: reject,
        listeners: [],
      })
      this.#running ??= this.#drain()
    })
  }

  /** Resolves when nothing waits any more. */
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

  /** Ends with the first turn in which nothing has arrived: the writes of a burst share one commit. */
  async #gather(): Promise<void> {
    for (let turn = 0, seen = 0; turn < BURST_TURNS && seen < this.#waiting.length; turn++) {
      seen = this.#waiting.length
      await nextTurn()
    }
  }

  async #runGroup(group: readonly Job[]): Promise<void> {
    const outcome = await this.#transaction(
      group,
      group.every(({ repeatable }) => repeatable) ? this.#runBare : this.#runInSavepoint,
    )
    for (const settle of outcome) settle()
  }

  /** Runs the jobs and commits; answers what is to be told to whom once nothing can change any more. */
  async #transaction(
    asked: readonly Job[],
    runJob: (job: Job) => Promise<() => void>,
  ): Promise<(() => void)[]> {
    const { clock, connection, unavailable } = this.#options
    const group = await this.#begin(asked)
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
      if (error instanceof HalfDone) return this.#transaction(group, this.#runInSavepoint)
      const failure = toFailure(error, unavailable)
      return group.map((job) => () => job.fail(failure))
    }
  }

  /** Waits for the write lock; answers those of the group that have not lost patience over it. */
  async #begin(group: readonly Job[]): Promise<readonly Job[]> {
    const { connection, unavailable } = this.#options
    for (let left = group, attempt = 0; ; attempt++) {
      try {
        if (connection.begin()) return left
      } catch (error) {
        for (const job of left) job.fail(toFailure(error, unavailable))
        return []
      }
      left = this.#patient(left)
      if (left.length === 0) return []
      // Waiting inside the engine would stop the event loop, and with it every client.
      await delay(backoffMs(LOCK_BACKOFF, attempt))
    }
  }

  #patient(group: readonly Job[]): readonly Job[] {
    const { clock, unavailable } = this.#options
    const latest = clock.monotonic() - LOCK_PATIENCE_MS
    for (const job of group) {
      if (job.since <= latest) job.fail(unavailable(new Error('another process holds the write lock')))
    }
    return group.filter(({ since }) => since > latest)
  }

  readonly #runBare = async (job: Job): Promise<() => void> => {
    const { connection } = this.#options
    const before = connection.changes
    try {
      await this.#run(job)
    } catch (error) {
      if (!connection.isOpen || connection.changes !== before) throw new HalfDone()
      return () => job.fail(error)
    }
    return () => succeed(job)
  }

  readonly #runInSavepoint = async (job: Job): Promise<() => void> => {
    const { connection } = this.#options
    connection.savepoint()
    try {
      await this.#run(job)
      connection.release()
    } catch (error) {
      // A full disk or a failed write ends the whole transaction in the engine: nothing of the group is left then.
      if (!connection.undo()) throw error
      return () => job.fail(error)
    }
    return () => succeed(job)
  }

  /** Everybody waits for the one who is served: one that hangs is given up, and can do no harm afterwards. */
  #run(job: Job): Promise<void> {
    const { connection, transactionMs } = this.#options
    job.listeners = []
    const run = job.run(connection.transaction((listener) => job.listeners.push(listener)))
    if (job.longRunning) return run
    return this.#timeout.race(run, () => {
      connection.revoke()
      return transactionTimeout(transactionMs)
    })
  }
}

function toFailure(error: unknown, unavailable: (cause: unknown) => unknown): unknown {
  return error instanceof AppError ? error : unavailable(error)
}

function succeed(job: Job): void {
  job.succeed()
  for (const listener of job.listeners) listener()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
