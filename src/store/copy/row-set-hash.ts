import { createHash, hash } from 'node:crypto'

const WORD_BYTES = 4
const WORDS = 8
const WORD_RANGE = 2 ** 32

/**
 * A hash of a set of rows that does not depend on their order: the sum of the SHA-256 of each row, modulo 2^256. The same
 * rows in another order have the same hash; a row more, less or changed gives another one.
 */
export class RowSetHash {
  readonly #sum = new Uint32Array(WORDS)
  #rows = 0

  get rows(): number {
    return this.#rows
  }

  add(row: string | Uint8Array): void {
    const digest = hash('sha256', row, 'buffer')
    let carry = 0
    for (let word = 0; word < WORDS; word++) {
      const sum = (this.#sum[word] ?? 0) + digest.readUInt32LE(word * WORD_BYTES) + carry
      this.#sum[word] = sum
      carry = sum >= WORD_RANGE ? 1 : 0
    }
    this.#rows++
  }

  /** With the number of rows and what else describes them, such as the columns. In hexadecimal digits. */
  digest(description: string): string {
    return createHash('sha256').update(`${description}\n${this.#rows}\n`).update(this.#sum).digest('hex')
  }
}
