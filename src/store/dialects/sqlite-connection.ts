import { setTimeout as pause } from 'node:timers/promises'
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  type QueryResult,
  type SelectQueryNode,
} from 'kysely'
import { backoffMs } from '../../kernel/waiting.ts'
import type { Database } from '../statement.ts'
import { type Queries, type Tx, TurnCost } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import { storeUnavailable } from '../unavailable.ts'
import { isBusy, fromSqliteError } from './sqlite-errors.ts'
import type { SqliteStatements, StatementResult } from './sqlite-statements.ts'

// A statement that reads and changes no row costs about as much as so many rows.
const BASE_COST = 8

// Some seconds in all.
const LOCK_RETRIES = 100
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }

/**
 * Runs the statements of all readers, or of one transaction. One of many statements goes on in further turns of the event
 * loop. Nobody else uses the connection of the writer meanwhile, and readers see what was committed before.
 */
export class SqliteConnection implements DatabaseConnection {
  readonly #statements: SqliteStatements
  readonly #gate: ReadGate | undefined
  readonly #turn = new TurnCost()
  #hasEnded = false

  /** `gate` for the readers; a transaction runs its statements at once. */
  constructor(statements: SqliteStatements, gate?: ReadGate) {
    this.#statements = statements
    this.#gate = gate
  }

  /** Counts work of the transaction; see `Tx`. */
  spend(rows: number): Promise<void> | undefined {
    return this.#turn.spend(rows)
  }

  /** Rejects every statement from now on. */
  end(): void {
    this.#hasEnded = true
  }

  /** Waits for a short lock of another process, as when it recovers or closes, without stopping the event loop. */
  async run(text: string, values: readonly unknown[]): Promise<StatementResult> {
    for (let attempt = 0; ; attempt++) {
      try {
        if (this.#gate) return await this.#gate.run(() => this.#runNow(text, values))
        const result = this.#runNow(text, values)
        const nextTurn = this.spend(BASE_COST + result.rows.length + result.changes)
        if (nextTurn) await nextTurn
        return result
      } catch (error) {
        if (!isBusy(error)) throw fromSqliteError(error)
        if (attempt >= LOCK_RETRIES) throw storeUnavailable(error)
      }
      await pause(backoffMs(LOCK_BACKOFF, attempt))
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.run(query.sql, query.parameters)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }

  #runNow(text: string, values: readonly unknown[]): StatementResult {
    if (this.#hasEnded) throw new Error('The transaction has ended.')
    return this.#statements.run(text, values)
  }
}

/**
 * SQLite plans a statement again at each execution when a parameter alone is its limit, which takes longer than many a
 * search itself. It does not with an expression.
 */
class QueryCompiler extends SqliteQueryCompiler {
  /** Leaves out the locks of rows (`for update`): there is one writer. */
  protected override visitSelectQuery({ endModifiers: _locks, ...node }: SelectQueryNode): void {
    super.visitSelectQuery(node)
  }

  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node)
    this.append(' + 0')
  }
}

/** Compiles the prepared statements; it has no connection to run them on. */
const COMPILER: Database = new Kysely({
  dialect: { ...compilerDialect(), createDriver: () => new DummyDriver() },
})

/** Queries on one connection. A class, because the object is made for each transaction: a literal with a getter takes 0.3 µs. */
export class SqliteQueries implements Queries {
  readonly capabilities = CAPABILITIES.sqlite
  readonly run: Queries['run']
  readonly change: Queries['change']
  readonly #connection: SqliteConnection
  #db: Database | undefined

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.run = async (statement, args) => {
      const { text, values } = statement.bind('sqlite', COMPILER, args)
      return (await connection.run(text, values)).rows as never[]
    }
    this.change = async (statement, args) => {
      const { text, values } = statement.bind('sqlite', COMPILER, args)
      return (await connection.run(text, values)).changes
    }
  }

  // Most transactions run prepared statements only, which cost less than a builder.
  get db(): Database {
    return (this.#db ??= new Kysely({ dialect: dialectOn(this.#connection) }))
  }
}

export class SqliteTransaction extends SqliteQueries implements Tx {
  readonly afterCommit: Tx['afterCommit']
  readonly spend: Tx['spend']

  constructor(connection: SqliteConnection, afterCommit: Tx['afterCommit']) {
    super(connection)
    this.afterCommit = afterCommit
    this.spend = (rows) => connection.spend(rows)
  }
}

function dialectOn(connection: SqliteConnection): Dialect {
  return { ...compilerDialect(), createDriver: () => driverOn(connection) }
}

function compilerDialect(): Omit<Dialect, 'createDriver'> {
  return {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
  }
}

/** The connection is opened, closed and put into transactions by the store, never by the query builder. */
function driverOn(connection: SqliteConnection): Driver {
  const refuse = async () => {
    throw new Error('Transactions are opened by store.write() only.')
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}

// In rows. A read of no row costs about as much as eight rows; 500 rows take some milliseconds, the JSON and the
// response included.
const READ_COST = 8
const TURN_LIMIT = 500

interface Result {
  readonly rows: readonly unknown[]
}

/**
 * Limits the reads of one turn of the event loop; the others wait, in their order, for the next turns. A commit takes
 * some turns: with a thousand readers of lists each turn would last half a second, and all writers wait that long.
 */
export class ReadGate {
  readonly #waiting: (() => void)[] = []
  #cost = 0
  #isScheduled = false

  run<R extends Result>(read: () => R): R | Promise<R> {
    this.#schedule()
    if (this.#waiting.length === 0 && this.#cost < TURN_LIMIT) return this.#runNow(read)
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#runNow(read))
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #runNow<R extends Result>(read: () => R): R {
    this.#cost += READ_COST
    const result = read()
    this.#cost += result.rows.length
    return result
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#onTurn)
  }

  readonly #onTurn = () => {
    this.#isScheduled = false
    this.#cost = 0
    while (this.#cost < TURN_LIMIT) {
      const next = this.#waiting.shift()
      if (!next) return
      next()
    }
    this.#schedule()
  }
}
