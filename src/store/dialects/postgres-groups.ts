import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QueryResult } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import type { Histogram, Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { callListeners, type TouchedRow, type TransactionCallback, type Tx } from '../store.ts'
import { touchedName } from '../locking.ts'
import { type StoreLimits, storeUnavailable } from '../unavailable.ts'
import { isRetryable } from './postgres-errors.ts'
import type { PooledConnection, PostgresQuery, QueryConnection } from './postgres-pool.ts'
import type { StatementNames } from './postgres-queries.ts'
import { rollback, runWork } from './postgres-transaction.ts'

// Two, so that one waits for its answers while the other one is being written.
const CONNECTIONS = 2
// A group holds its locks until its commit. Larger ones gain little.
const GROUP_LIMIT = 32
// The clients that one commit has answered come back within a few turns.
const BURST_TURNS = 4
// The clients that a commit has answered come back within this time.
const OPEN_FOR_MS = 5
// As for a connection of the pool.
const WAIT_LIMIT_MS = 5 * SECOND
// A write that waits for a lock makes its group wait, so after this time it runs alone. Longer than a commit on a remote
// standby: groups of one process may wait for each other's counters.
const LOCK_TIMEOUT_MS = 500
const BEGIN = `begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`

const LOCKS = / for (?:update|share)| pg_advisory_xact_lock\(/
const LOCKS_NAME = 'select pg_advisory_xact_lock('
const SKIPS = / skip locked/
const TABLES = / from "(\w+)"/g

export interface WriteGroupsOptions {
  readonly connect: () => Promise<PooledConnection>
  readonly names: StatementNames
  readonly logger: Logger
  readonly metrics: Metrics
  readonly limits: Pick<StoreLimits, 'transactionMs' | 'idleMs'>
  /** How long a write waits for its group. */
  readonly waitMs?: number
  /** Runs a write in a transaction of its own. */
  readonly runAlone: <T>(work: TransactionCallback<T>) => Promise<T>
}

/** A write that waits for its group, or runs in it. */
interface Write {
  /** The names of what it touches. */
  readonly names: readonly string[]
  readonly run: (tx: Tx) => Promise<void>
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
  /** Settles the write by a transaction of its own. */
  readonly runAlone: () => Promise<void>
  readonly expiry: NodeJS.Timeout
}

/**
 * Group commit: writes that arrive in one burst share a transaction. They run at the same time, so that their statements
 * share packets and their commit shares one fsync. Between them no lock of the database holds: writes that touch the same
 * rows run one after the other, and one that locks a row without having named it is repeated alone.
 *
 * A write that fails does not affect the others. Most failures come before any change, so there is nothing to undo.
 * When one comes later, the group is rolled back and each of its writes is repeated alone. Only the failure of a commit is
 * the failure of all: nobody knows whether it was executed.
 */
export class WriteGroups {
  readonly #options: WriteGroupsOptions
  readonly #waitMs: number
  readonly #groupSize: Histogram
  /** What the writes touch that are in a group now, or are repeated alone, and how many of them do. */
  readonly #touched = new Map<string, number>()
  readonly #opened: OpenTransaction[] = []
  #waiting: Write[] = []
  #running = 0
  #isGathering = false

  constructor(options: WriteGroupsOptions) {
    this.#options = options
    this.#waitMs = options.waitMs ?? WAIT_LIMIT_MS
    this.#groupSize = options.metrics.histogram({
      name: 'store_commit_group_size',
      help: 'Writes that shared one commit.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    })
  }

  get waiting(): number {
    return this.#waiting.length
  }

  write<T>(work: TransactionCallback<T>, touches: readonly TouchedRow[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T
      const write: Write = {
        names: touches.map(touchedName),
        run: async (tx) => {
          result = await work(tx)
        },
        succeed: () => resolve(result),
        fail: reject,
        runAlone: () => this.#options.runAlone(work).then(resolve, reject),
        expiry: setTimeout(() => this.#expire(write), this.#waitMs),
      }
      this.#waiting.push(write)
      this.#start()
    })
  }

  #expire(write: Write): void {
    this.#waiting = this.#waiting.filter((other) => other !== write)
    write.fail(storeUnavailable(new Error(`the write has waited for ${this.#waitMs} ms`)))
  }

  #start(): void {
    if (this.#isGathering || this.#running >= CONNECTIONS || this.#waiting.length === 0) return
    this.#isGathering = true
    void this.#gather().then(() => {
      this.#isGathering = false
      const group = this.#takeGroup()
      if (group.length === 0) return
      this.#running++
      void this.#run(group)
      this.#start()
    })
  }

  /** Ends with the first turn in which no write has arrived. */
  async #gather(): Promise<void> {
    for (let turn = 0, seen = 0; turn < BURST_TURNS && seen < this.#waiting.length; turn++) {
      seen = this.#waiting.length
      await nextTurn()
    }
  }

  /** The first writes that touch nothing of those that run elsewhere, nor of those that wait for them. */
  #takeGroup(): Write[] {
    const [group, left]: [Write[], Write[]] = [[], []]
    const reserved = new Set(this.#touched.keys())
    for (const write of this.#waiting) {
      const isFree = group.length < GROUP_LIMIT && write.names.every((name) => !reserved.has(name))
      if (!isFree) for (const name of write.names) reserved.add(name)
      ;(isFree ? group : left).push(write)
    }
    this.#waiting = left
    for (const write of group) {
      clearTimeout(write.expiry)
      this.#reserve(write)
    }
    // Groups of other processes take their locks in the same order.
    return group.toSorted(({ names: [one = ''] }, { names: [other = ''] }) =>
      one === other ? 0 : one < other ? -1 : 1,
    )
  }

  async #run(group: readonly Write[]): Promise<void> {
    const repeated = await this.#runTogether(group).catch((error: unknown) => {
      for (const write of group) write.fail(error)
      return []
    })
    this.#running--
    const isRepeated = new Set(repeated)
    for (const write of group) if (!isRepeated.has(write)) this.#free(write)
    this.#start()
    // One of them may wait for a lock; what the others touch is free before.
    await Promise.all(repeated.map((write) => write.runAlone().then(() => this.#free(write))))
  }

  #reserve({ names }: Write): void {
    for (const name of names) this.#touched.set(name, (this.#touched.get(name) ?? 0) + 1)
  }

  #free({ names }: Write): void {
    for (const name of names) {
      const left = (this.#touched.get(name) ?? 1) - 1
      if (left > 0) this.#touched.set(name, left)
      else this.#touched.delete(name)
    }
    this.#start()
  }

  /** Settles the writes by one transaction; returns those that must be repeated alone. Rejects when it settles none. */
  async #runTogether(group: readonly Write[]): Promise<readonly Write[]> {
    const opened = this.#opened.pop() ?? new OpenTransaction(await this.#options.connect())
    try {
      const transaction = new GroupTransaction(opened, this.#options)
      const members = await transaction.run(group)
      if (transaction.isBroken) {
        await opened.rollback()
        return members.filter((member) => !member.failExpired()).map(({ write }) => write)
      }
      // Under load the next group comes at once: its transaction begins in the same packet.
      if (!(await opened.commit({ opensNext: group.length > 1 }))) return group
      this.#groupSize.observe(group.length)
      return members.filter((member) => !member.settle()).map(({ write }) => write)
    } finally {
      this.#keep(opened)
    }
  }

  /** Keeps the connection for a moment if the transaction of the next group is open. */
  #keep(opened: OpenTransaction): void {
    if (!opened.isOpen) return opened.release()
    this.#opened.push(opened)
    setTimeout(() => this.#drop(opened), OPEN_FOR_MS)
  }

  /** Ends the transaction if no group has taken it. */
  #drop(opened: OpenTransaction): void {
    const index = this.#opened.indexOf(opened)
    if (index < 0) return
    this.#opened.splice(index, 1)
    void opened.rollback().then(() => opened.release())
  }
}

/** A connection and its transaction, whose first statement may still be on its way. */
class OpenTransaction {
  readonly connection: PooledConnection
  #begun: Promise<unknown> | undefined

  constructor(connection: PooledConnection) {
    this.connection = connection
    this.#begin()
  }

  get isOpen(): boolean {
    return this.#begun !== undefined && !this.connection.isClosed
  }

  /** Rejects when the server has refused to begin: behind it each statement would be committed on its own. */
  async begun(): Promise<void> {
    await this.#begun
  }

  /** `false` when it was rolled back for certain. Rejects when nobody knows. */
  async commit({ opensNext }: { readonly opensNext: boolean }): Promise<boolean> {
    const committed = isCommitted(this.connection)
    this.#begun = undefined
    if (opensNext) this.#begin()
    try {
      return await committed
    } catch (error) {
      if (opensNext) this.connection.close(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  async rollback(): Promise<void> {
    this.#begun = undefined
    await rollback(this.connection)
  }

  release(): void {
    this.connection.release()
  }

  #begin(): void {
    this.#begun = this.connection.query({ text: BEGIN })
    // Whoever uses the transaction waits for it.
    this.#begun.catch(() => undefined)
  }
}

/** `false` when it was rolled back for certain. Rejects when nobody knows. */
async function isCommitted(connection: PooledConnection): Promise<boolean> {
  try {
    return (await connection.commit()).command === 'COMMIT'
  } catch (error) {
    if (isRetryable(error)) return false
    throw error
  }
}

class GroupTransaction {
  readonly connection: PooledConnection
  readonly options: WriteGroupsOptions
  /** Whether it must be rolled back. */
  isBroken = false
  readonly #opened: OpenTransaction

  constructor(opened: OpenTransaction, options: WriteGroupsOptions) {
    this.connection = opened.connection
    this.options = options
    this.#opened = opened
  }

  /** Resolves when all writes have ended, whatever their outcome. */
  async run(group: readonly Write[]): Promise<readonly Member[]> {
    await this.#opened.begun().catch(() => (this.isBroken = true))
    const members = group.map((write) => new Member(this, write))
    const ends = new Map<string, Promise<void>>()
    for (const member of members) {
      const { names } = member.write
      const earlier = names.flatMap((name) => ends.get(name) ?? [])
      const end = earlier.length > 0 ? Promise.all(earlier).then(() => member.run()) : member.run()
      for (const name of names) ends.set(name, end)
    }
    await Promise.all(members.map(({ ended }) => ended))
    return members
  }
}

/** A write in its group, and the connection of the group as the write sees it. */
class Member implements QueryConnection {
  readonly write: Write
  readonly ended: Promise<void>
  readonly #transaction: GroupTransaction
  readonly #end: () => void
  readonly #listeners: (() => void)[] = []
  #changes = 0
  #statements = 0
  #closedBy: Error | undefined
  #expiredBy: Error | undefined
  #locksOthers = false
  #failure: { readonly error: unknown } | undefined

  constructor(transaction: GroupTransaction, write: Write) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.write = write
    this.ended = promise
    this.#transaction = transaction
    this.#end = resolve
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { names, limits } = this.#transaction.options
    try {
      if (!this.#transaction.isBroken)
        await runWork({ connection: this, names, limits, work: this.write.run }, this.#listeners)
    } catch (error) {
      this.#failure = { error }
    }
    this.#closedBy ??= new Error('The transaction has ended.')
    const hasFailed = this.#failure !== undefined || this.#locksOthers
    // Nothing needs to be undone otherwise.
    if (hasFailed && (this.#changes > 0 || this.#statements > 0)) this.#transaction.isBroken = true
    this.#end()
  }

  async query<R extends object>(query: PostgresQuery): Promise<QueryResult<R>> {
    if (this.#closedBy) throw this.#closedBy
    if (locksOthers(query, this.write.names)) {
      this.#locksOthers = true
      throw new Error('The write locks rows that it has not named; it is repeated alone.')
    }
    this.#statements++
    try {
      const result = await this.#transaction.connection.query<R>(query)
      if (!query.text.startsWith('select ')) this.#changes += result.rowCount ?? 0
      return result
    } catch (error) {
      // The server refuses every later statement of the transaction.
      this.#transaction.isBroken = true
      throw error
    } finally {
      this.#statements--
    }
  }

  close(error: Error): void {
    this.#expiredBy = error
    this.#closedBy = error
    this.#transaction.isBroken = true
    this.#transaction.connection.close(error)
  }

  /** Settles the write if its own time limit has expired. */
  failExpired(): boolean {
    if (this.#expiredBy) this.write.fail(this.#expiredBy)
    return this.#expiredBy !== undefined
  }

  /** Settles the write after the commit; `false` if it must be repeated alone. */
  settle(): boolean {
    if (this.#locksOthers) return false
    if (this.#failure) this.write.fail(this.#failure.error)
    else {
      callListeners(this.#listeners, this.#transaction.options.logger)
      this.write.succeed()
    }
    return true
  }
}

/**
 * Whether the statement locks a row that is not among the names, or skips rows that others of the group have locked. An
 * update that locks what it changes is one statement: no other one of the group can come between.
 */
function locksOthers({ text, values = [] }: PostgresQuery, names: readonly string[]): boolean {
  if (!LOCKS.test(text) || text.startsWith('update ')) return false
  const tables = Array.from(text.matchAll(TABLES), ([, table = '']) => table)
  const [table = ''] = tables
  const key = values.filter((value) => typeof value === 'string')
  const isOne = tables.length === (text.startsWith(LOCKS_NAME) ? 0 : 1)
  return !isOne || SKIPS.test(text) || !names.includes(touchedName({ table, key }))
}
