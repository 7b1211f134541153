// Larger words would not fit into the small integers of V8, and need memory of their own.
const BITS = 30

/** A set of numbers of rows. Rows of one day have numbers near each other: then it takes a few bits for each. */
export class NumberSet {
  readonly #words = new Map<number, number>()

  /** `false` if it was in the set. */
  add(number: number): boolean {
    const key = Math.floor(number / BITS)
    const word = this.#words.get(key) ?? 0
    const bit = 1 << (number % BITS)
    if ((word & bit) !== 0) return false
    this.#words.set(key, word | bit)
    return true
  }

  has(number: number): boolean {
    return ((this.#words.get(Math.floor(number / BITS)) ?? 0) & (1 << (number % BITS))) !== 0
  }
}
