/** Reads exact numbers of bytes from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array()
  #at = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async isAtEnd(): Promise<boolean> {
    return !(await this.#fill())
  }

  /** Throws when the stream has fewer bytes. */
  async read(length: number): Promise<Buffer> {
    const bytes = await this.readUpTo(length)
    if (bytes.length < length) throw new Error('it ends in the middle')
    return bytes
  }

  /** Fewer bytes only at the end of the stream. */
  async readUpTo(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length)
    let filled = 0
    while (filled < length && (await this.#fill())) {
      const piece = this.#chunk.subarray(this.#at, this.#at + length - filled)
      bytes.set(piece, filled)
      filled += piece.length
      this.#at += piece.length
    }
    return bytes.subarray(0, filled)
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      if (!(await this.#fill())) throw new Error('it ends in the middle')
      const step = Math.min(left, this.#chunk.length - this.#at)
      this.#at += step
      left -= step
    }
  }

  /** Releases the stream. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #fill(): Promise<boolean> {
    while (this.#at >= this.#chunk.length) {
      const { done, value } = await this.#source.next()
      if (done) return false
      this.#chunk = value
      this.#at = 0
    }
    return true
  }
}
