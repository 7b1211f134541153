// In rows. A read of no row costs about as much as eight rows; 500 rows take some milliseconds, the JSON and the
// response included.
const BASE_COST = 8
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
    this.#cost += BASE_COST
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
