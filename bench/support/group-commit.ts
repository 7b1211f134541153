import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

/** A migrated database, opened for writes that are on disk when their commit returns. */
export function openDurable(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  return database
}

/** The `traceparent` of a new trace (W3C Trace Context). */
export function newTraceparent(): string {
  const digits = randomBytes(24).toString('hex')
  return `00-${digits.slice(0, 32)}-${digits.slice(32)}-00`
}

export interface GroupCommitOptions<T> {
  readonly database: DatabaseSync
  /** Writes the rows of one item; `at` is the time of its group, in epoch milliseconds. */
  readonly insert: (item: T, at: number) => void
  /** Called once the rows of the item are on disk. */
  readonly answer: (item: T) => void
  /** How long an item waits for others, in milliseconds; when left out, until the end of its turn. */
  readonly gatherMs?: number
}

/** Writes all items that arrive together in one transaction, with one fsync, and answers them after it. */
export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>
  #waiting: T[] = []

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
  }

  add(item: T): void {
    if (this.#waiting.length === 0) this.#schedule()
    this.#waiting.push(item)
  }

  #schedule(): void {
    const { gatherMs } = this.#options
    if (gatherMs === undefined) setImmediate(this.#commit)
    else setTimeout(this.#commit, gatherMs)
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
