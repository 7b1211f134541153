import type { Logger } from '../../kernel/logger.ts'
import { bindTrace } from '../../kernel/trace.ts'
import { callListeners, type Tx, type TransactionCallback, TurnCost } from '../store.ts'
import { type StoreLimits, transactionTimeout } from '../unavailable.ts'
import type { PooledConnection, QueryConnection } from './postgres-pool.ts'
import { PostgresQueries, type QuerySource, type StatementNames } from './postgres-queries.ts'

export type TransactionLimits = Pick<StoreLimits, 'transactionMs' | 'idleMs'>

export interface TransactionOptions<T> {
  readonly connection: PooledConnection
  readonly names: StatementNames | undefined
  readonly logger: Logger
  readonly work: TransactionCallback<T>
  /** Undefined for a transaction that may take any time. */
  readonly limits: TransactionLimits | undefined
  /** The text that opens the transaction. */
  readonly begin: string
}

/** Runs the work in one transaction, then the listeners of its commit. The connection is released in any case. */
export async function runTransaction<T>(options: TransactionOptions<T>): Promise<T> {
  const { connection } = options
  const listeners: (() => void)[] = []
  try {
    const result = await beginAndCommit(options, listeners)
    callListeners(listeners, options.logger)
    return result
  } finally {
    connection.release()
  }
}

async function beginAndCommit<T>(options: TransactionOptions<T>, listeners: (() => void)[]): Promise<T> {
  const { connection } = options
  await connection.query({ text: options.begin })
  try {
    const result = await runWork(options, listeners)
    await commit(connection)
    return result
  } catch (error) {
    await rollback(connection)
    throw error
  }
}

export interface WorkOptions<T> extends Pick<TransactionOptions<T>, 'names' | 'work' | 'limits'> {
  readonly connection: QueryConnection
}

/** Runs the work in the open transaction of the connection, which it closes on expiry of the limits. */
export async function runWork<T>(
  { connection, names, work, limits }: WorkOptions<T>,
  listeners: (() => void)[],
): Promise<T> {
  const timeout = new TransactionTimeout(connection, limits)
  const tx = new PostgresTransaction(timeout.source, names, listeners)
  try {
    return await Promise.race([work(tx), timeout.expired])
  } finally {
    timeout.stop()
  }
}

class PostgresTransaction extends PostgresQueries implements Tx {
  readonly afterCommit: Tx['afterCommit']
  readonly spend: Tx['spend']

  constructor(source: QuerySource, names: StatementNames | undefined, listeners: (() => void)[]) {
    super(source, { names, inTransaction: true })
    const turn = new TurnCost()
    this.afterCommit = (listener) => void listeners.push(bindTrace(listener))
    this.spend = (rows) => turn.spend(rows)
  }
}

/** The server answers the commit of a transaction in which a statement has failed with a rollback. */
async function commit(connection: PooledConnection): Promise<void> {
  const { command } = await connection.commit()
  if (command === 'ROLLBACK')
    throw new Error('The transaction was rolled back, because one of its statements had failed.')
}

export async function rollback(connection: PooledConnection): Promise<void> {
  // A closed connection takes its transaction with it.
  if (connection.isClosed) return
  try {
    await connection.query({ text: 'rollback' })
  } catch (error) {
    connection.close(error instanceof Error ? error : new Error(String(error)))
  }
}

/**
 * Limits the time of a transaction in all, and the time in which it runs no statement. On expiry the connection is
 * closed, not rolled back: a statement of the callback that follows a ROLLBACK would be committed on its own.
 */
class TransactionTimeout {
  readonly expired: Promise<never>
  readonly source: QuerySource
  readonly #expire: (limitMs: number) => void
  readonly #total: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  #statements = 0
  // Grows with each start and each end of a statement.
  #activity = 0
  #isStopped = false

  constructor(connection: QueryConnection, limits: TransactionLimits | undefined) {
    const { promise, reject } = Promise.withResolvers<never>()
    // The work may end first, and then nothing waits for the expiry.
    promise.catch(() => undefined)
    this.expired = promise
    this.#expire = (limitMs) => {
      const error = transactionTimeout(limitMs)
      connection.close(error)
      reject(error)
    }
    this.source = {
      query: async (query) => {
        this.#count(1)
        try {
          return await connection.query(query)
        } finally {
          this.#count(-1)
        }
      },
    }
    if (!limits) return
    const { transactionMs, idleMs } = limits
    this.#total = setTimeout(() => this.#expire(transactionMs), transactionMs)
    this.#idle = setTimeout(() => this.#onIdle(idleMs), idleMs)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#total)
    clearTimeout(this.#idle)
  }

  #count(statements: 1 | -1): void {
    this.#statements += statements
    this.#activity++
    if (!this.#isStopped) this.#idle?.refresh()
  }

  #onIdle(idleMs: number): void {
    const seen = this.#activity
    // A process that was suspended first handles the answers that have arrived meanwhile.
    setImmediate(() => {
      const isIdle = this.#statements === 0 && this.#activity === seen
      if (isIdle && !this.#isStopped) this.#expire(idleMs)
    })
  }
}
