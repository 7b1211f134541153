import { randomText } from '../mock-server/random-text.ts'

interface Entry<T> {
  readonly token: string
  readonly value: T
}

const RADIX = 36
const SLOT_LENGTH = 4

/**
 * Values by random tokens, in memory. When the store is full, each new entry replaces the oldest.
 *
 * The last characters of a token are its slot in a ring. A `Map` would spend more time on deleting old entries than the
 * rest of a request takes.
 */
export class TokenStore<T> {
  readonly #limit: number
  readonly #prefix: string
  readonly #ring: Entry<T>[] = []
  #nextSlot = 0

  constructor(limit: number, prefix: string) {
    if (limit > RADIX ** SLOT_LENGTH)
      throw new RangeError(`expected at most ${RADIX ** SLOT_LENGTH} entries, got ${limit}`)
    this.#limit = limit
    this.#prefix = prefix
  }

  get size(): number {
    return this.#ring.length
  }

  /** Stores the value and returns its token. */
  issue(value: T): string {
    const slot = this.#nextSlot
    const token = `${this.#prefix}${randomText()}${slot.toString(RADIX).padStart(SLOT_LENGTH, '0')}`
    this.#ring[slot] = { token, value }
    this.#nextSlot = (slot + 1) % this.#limit
    return token
  }

  find(token: string): T | undefined {
    const entry = this.#ring[Number.parseInt(token.slice(-SLOT_LENGTH), RADIX)]
    return entry?.token === token ? entry.value : undefined
  }
}
