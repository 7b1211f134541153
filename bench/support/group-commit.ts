import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** A migrated database, opened for writes that are on disk when their commit returns. */
export function openDurable(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  return database
}

/** Prepares an insert of these columns; its values are named after them. */
export function prepareInsert(
  database: DatabaseSync,
  table: string,
  columns: readonly string[],
): StatementSync {
  const values = columns.map((column) => `:${column}`)
  return database.prepare(`insert into ${table} (${columns.join(', ')}) values (${values.join(', ')})`)
}

export interface GroupCommitOptions<T> {
  readonly database: DatabaseSync
  /** Writes the rows of one item; `at` is the time of its group, in epoch milliseconds. */
  readonly insert: (item: T, at: number) => void
  /** Called once the rows of the item are on disk. */
  readonly answer: (item: T) => void
}

/** Writes all items of one turn of the event loop in one transaction, with one fsync, and answers them after it. */
export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>
  #waiting: T[] = []

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
  }

  add(item: T): void {
    if (this.#waiting.length === 0) setImmediate(this.#commit)
    this.#waiting.push(item)
  }

  readonly #commit = () => {
    const { database, insert, answer } = this.#options
    const group = this.#waiting
    this.#waiting = []
    const at = Date.now()
    database.exec('begin immediate')
    for (const item of group) insert(item, at)
    database.exec('commit')
    for (const item of group) answer(item)
  }
}
