/** A limited amount of bytes or requests. Calls wait for their share in the order in which they came. */
export class Budget {
  readonly #limit: number
  readonly #grantsPerTurn: number
  #grantsInTurn = 0
  readonly #waiting = new Set<Waiter>()
  #used = 0

  /** `grantsPerTurn`: how many calls are granted in one turn of the event loop, if each one causes much work. */
  constructor(limit: number, { grantsPerTurn = Number.POSITIVE_INFINITY } = {}) {
    this.#limit = limit
    this.#grantsPerTurn = grantsPerTurn
  }

  /** What is reserved now. */
  get used(): number {
    return this.#used
  }

  /** What calls wait for; never more than could be released. */
  get missing(): number {
    let amount = 0
    for (const waiter of this.#waiting) amount += waiter.amount
    return Math.min(amount, this.#limit)
  }

  /** Reserves that amount if it is free now and no call waits; returns whether it did. */
  tryReserve(amount: number): boolean {
    if (this.#waiting.size > 0 || !this.#canGrant(amount)) return false
    this.#countGrant(amount)
    return true
  }

  /** Resolves when that amount is free, in the order of the calls. Rejects with the reason of `signal`. */
  async reserve(amount: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.tryReserve(amount)) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { amount, resolve }
    const abort = () => {
      this.#waiting.delete(waiter)
      reject(signal.reason)
      this.#grant()
    }
    this.#waiting.add(waiter)
    signal.addEventListener('abort', abort, { once: true })
    await promise
    signal.removeEventListener('abort', abort)
  }

  /** Counts what cannot wait; a negative amount takes back what was reserved too much. */
  charge(amount: number): void {
    this.#used += amount
    if (amount < 0) this.#grant()
  }

  release(amount: number): void {
    this.charge(-amount)
  }

  /** An amount larger than the limit gets its turn when nothing else is reserved. */
  #canGrant(amount: number): boolean {
    const hasRoom = this.#used <= 0 || this.#used + amount <= this.#limit
    return hasRoom && this.#grantsInTurn < this.#grantsPerTurn
  }

  #countGrant(amount: number): void {
    this.#used += amount
    if (this.#grantsPerTurn === Number.POSITIVE_INFINITY) return
    if (this.#grantsInTurn === 0) setImmediate(() => this.#beginTurn())
    this.#grantsInTurn++
  }

  #beginTurn(): void {
    this.#grantsInTurn = 0
    this.#grant()
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (!this.#canGrant(waiter.amount)) return
      this.#waiting.delete(waiter)
      this.#countGrant(waiter.amount)
      waiter.resolve()
    }
  }
}

interface Waiter {
  readonly amount: number
  readonly resolve: () => void
}
