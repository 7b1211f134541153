import { randomText } from './random-text.ts'

interface Entry<T> {
  readonly key: string
  readonly value: T
}

const RADIX = 36
const PLACE_LENGTH = 4

/**
 * What was issued under keys that nobody can guess; so many, with each one too many the oldest goes.
 *
 * The last characters of a key say where its entry stands in a ring. A map would be asked with a hash, and would
 * spend more time on forgetting old keys than everything else here takes.
 */
export class Issued<T> {
  readonly #limit: number
  readonly #prefix: string
  readonly #ring: Entry<T>[] = []
  #next = 0

  constructor(limit: number, prefix: string) {
    if (limit > RADIX ** PLACE_LENGTH) throw new RangeError(`a key cannot name one of ${limit} places`)
    this.#limit = limit
    this.#prefix = prefix
  }

  get size(): number {
    return this.#ring.length
  }

  /** Answers the key. */
  add(value: T): string {
    const place = this.#next
    const key = `${this.#prefix}${randomText()}${place.toString(RADIX).padStart(PLACE_LENGTH, '0')}`
    this.#ring[place] = { key, value }
    this.#next = (place + 1) % this.#limit
    return key
  }

  get(key: string): T | undefined {
    const entry = this.#ring[Number.parseInt(key.slice(-PLACE_LENGTH), RADIX)]
    return entry?.key === key ? entry.value : undefined
  }
}
