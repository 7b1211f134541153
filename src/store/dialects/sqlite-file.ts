import { statSync } from 'node:fs'
import { storeUnavailable } from '../unavailable.ts'

/**
 * The file at the path of a database, as it was when the database was opened. An open file that is replaced or removed
 * goes on taking writes, which nothing reads afterwards.
 */
export class SqliteFile {
  readonly #path: string
  readonly #identity: string

  constructor(path: string) {
    this.#path = path
    this.#identity = identityOf(path)
  }

  /** Throws `store_unavailable` when another file, or none, is at the path. */
  requireUnchanged(): void {
    const reason = this.#difference()
    if (reason === undefined) return
    throw storeUnavailable(
      new Error(`${this.#path} ${reason} while it was open; put the file back, or restart the platform`),
      'The database file was replaced or removed while it was open; nothing was changed.',
    )
  }

  #difference(): string | undefined {
    try {
      return identityOf(this.#path) === this.#identity ? undefined : 'was replaced by another file'
    } catch (error) {
      return `cannot be found (${error instanceof Error ? error.message : String(error)})`
    }
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}/${ino}`
}
