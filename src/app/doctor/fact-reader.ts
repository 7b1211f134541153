// One that waits for a lock takes five seconds.
const MOST_FAILURES = 3

/** Reads what a database says, one thing after the other: a table that cannot be read hides nothing of another one. */
export class FactReader {
  readonly #isCurrent: boolean
  readonly #failures: unknown[] = []

  /** Without the current schema nothing is read. */
  constructor(isCurrent: boolean) {
    this.#isCurrent = isCurrent
  }

  /** Why the first thing could not be read. */
  get failure(): unknown {
    return this.#failures[0]
  }

  /** Undefined if it cannot be read. After several failures nothing is tried any more. */
  async read<T>(query: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isCurrent || this.#failures.length >= MOST_FAILURES) return undefined
    try {
      return await query()
    } catch (error) {
      this.#failures.push(error)
      return undefined
    }
  }
}
