const NUMBER = /^[0-9a-f]{32}$/
const WORDS = 4
const HEX_OF_WORD = 8
const FIRST_SLOTS = 1_024

/**
 * A set of numbers of payments, 32 hex digits each, in 16 bytes for each slot: a bill may have a million rows. Other texts are
 * never in it, for no row of ours has such a number.
 */
export class NumberSet {
  #slots = FIRST_SLOTS
  #words = new Uint32Array(FIRST_SLOTS * WORDS)
  #size = 0
  readonly #key = new Uint32Array(WORDS)

  get size(): number {
    return this.#size
  }

  /** `false` if it was in the set. */
  add(number: string): boolean {
    if (!this.#read(number)) return true
    if (this.#size * 2 >= this.#slots) this.#grow()
    return this.#insert(this.#key)
  }

  has(number: string): boolean {
    return this.#read(number) && this.#matches(this.#find(this.#words, this.#slots, this.#key), this.#key)
  }

  /** The number of zeros means a free slot, so it is not a member; no UUID is zero. */
  #read(number: string): boolean {
    if (!NUMBER.test(number)) return false
    for (let word = 0; word < WORDS; word++)
      this.#key[word] = Number.parseInt(number.slice(word * HEX_OF_WORD, (word + 1) * HEX_OF_WORD), 16)
    return this.#key.some((word) => word !== 0)
  }

  #insert(key: Uint32Array): boolean {
    const at = this.#find(this.#words, this.#slots, key)
    if (this.#matches(at, key)) return false
    this.#words.set(key, at)
    this.#size++
    return true
  }

  #matches(at: number, key: Uint32Array): boolean {
    return key.every((word, index) => this.#words[at + index] === word)
  }

  /** Where the key is, or the free slot in which it belongs. */
  #find(words: Uint32Array, slots: number, key: Uint32Array): number {
    // The last word of a UUID is random.
    let slot = (key[WORDS - 1] as number) & (slots - 1)
    for (;;) {
      const at = slot * WORDS
      const isFree = words[at] === 0 && words[at + 1] === 0 && words[at + 2] === 0 && words[at + 3] === 0
      if (isFree || key.every((word, index) => words[at + index] === word)) return at
      slot = (slot + 1) & (slots - 1)
    }
  }

  #grow(): void {
    const slots = this.#slots * 2
    const words = new Uint32Array(slots * WORDS)
    for (let at = 0; at < this.#words.length; at += WORDS) {
      const key = this.#words.subarray(at, at + WORDS)
      if (key.some((word) => word !== 0)) words.set(key, this.#find(words, slots, key))
    }
    this.#slots = slots
    this.#words = words
  }
}
