import { setTimeout as pause } from 'node:timers/promises'
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type LimitNode,
  type QueryResult,
  type SelectQueryNode,
} from 'kysely'
import { backoffMs } from '../../kernel/waiting.ts'
import type { Database } from '../statement.ts'
import { type Queries, type Tx, TurnCost } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import { storeUnavailable } from '../unavailable.ts'
import { compilerFor, queryBuilder, type SqlDialect } from './query-builder.ts'
import { isBusy, fromSqliteError } from './sqlite-errors.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'

// The program has few texts; the limit is for queries with lists of many lengths.
const STATEMENT_LIMIT = 500
const NO_ROWS: unknown[] = []
const READS = /^\s*select\b/i

export interface StatementResult {
  readonly rows: unknown[]
  readonly changes: number
}

interface Prepared {
  readonly statement: StatementSync
  /** Undefined for a statement that returns no rows. */
  readonly toRecord: ToRecord | undefined
  readonly onlyReads: boolean
}

/** The prepared statements of one database connection. */
export class SqliteStatements {
  readonly #database: DatabaseSync
  readonly #prepared = new LRUCache<string, Prepared>({ max: STATEMENT_LIMIT })
  #changes = 0

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Grows with each row that a statement has changed. */
  get changes(): number {
    return this.#changes
  }

  run(text: string, values: readonly unknown[]): StatementResult {
    const { statement, toRecord, onlyReads } = this.#prepare(text)
    if (toRecord) {
      const rows = statement.all(...(values as SQLInputValue[])).map(toRecord)
      if (!onlyReads) this.#changes += rows.length
      return { rows, changes: 0 }
    }
    const changes = Number(statement.run(...(values as SQLInputValue[])).changes)
    this.#changes += changes
    return { rows: NO_ROWS, changes }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const toRecord = columns.length > 0 ? recordConstructor(columns) : undefined
    const entry = { statement, toRecord, onlyReads: READS.test(text) }
    this.#prepared.set(text, entry)
    return entry
  }
}

type ToRecord = (row: unknown) => Record<string, unknown>

/**
 * Makes an object of a row's values. The engine's own row objects are dictionaries: twice as slow to make as arrays, and
 * several times slower to read than objects with a shape. An object literal in code made for the columns takes a sixth
 * of the time of assigning them one by one.
 */
function recordConstructor(columns: readonly string[]): ToRecord {
  const members = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are quoted
  return new Function('values', `return { ${members.join(', ')} }`) as ToRecord
}

// A statement that reads and changes no row costs about as much as so many rows.
const BASE_COST = 8

// Some seconds in all.
const LOCK_RETRIES = 100
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }

/**
 * Runs the statements of all readers, or of one transaction. A transaction of many statements goes on in further turns of
 * the event loop. Nobody else uses the connection of the writer meanwhile, and readers see what was committed before.
 */
export class SqliteConnection {
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

  /** Runs a query of the query builder. */
  async runBuilt(query: CompiledQuery): Promise<QueryResult<unknown>> {
    const { rows, changes } = await this.run(query.sql, query.parameters)
    return { rows, numAffectedRows: BigInt(changes) }
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

const DIALECT: SqlDialect = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new QueryCompiler(),
}
const COMPILER = compilerFor(DIALECT)

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
    return (this.#db ??= queryBuilder(DIALECT, (query) => this.#connection.runBuilt(query)))
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
