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
