/** A limited amount of bytes or requests. Calls wait for their share in the order in which they came. */
export class Budget {
  readonly #limit: number
  readonly #waiting = new Set<Waiter>()
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
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

  /** Resolves when that amount is free, in the order of the calls. Rejects with the reason of `signal`. */
  async reserve(amount: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.size === 0 && this.#hasRoomFor(amount)) return this.charge(amount)
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
  #hasRoomFor(amount: number): boolean {
    return this.#used <= 0 || this.#used + amount <= this.#limit
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasRoomFor(waiter.amount)) return
      this.#waiting.delete(waiter)
      this.#used += waiter.amount
      waiter.resolve()
    }
  }
}

interface Waiter {
  readonly amount: number
  readonly resolve: () => void
}
