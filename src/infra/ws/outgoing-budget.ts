/** Bounds the bytes that a gateway holds for its clients, over all sessions. */
export class OutgoingBudget {
  readonly #maxBytes: number
  readonly #waiting = new Set<Waiter>()
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** What is held now. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  /** What waits to be reserved, and could be if it were released. */
  get missingBytes(): number {
    let bytes = 0
    for (const waiter of this.#waiting) bytes += waiter.bytes
    return Math.min(bytes, this.#maxBytes)
  }

  /** Resolves when that many bytes are free, in the order of the calls. Rejects with the reason of `signal`. */
  async reserve(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.size === 0 && this.#hasRoomFor(bytes)) return this.charge(bytes)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { bytes, resolve }
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

  /** Counts bytes that cannot wait; a negative number takes back what was reserved too much. */
  charge(bytes: number): void {
    this.#usedBytes += bytes
    if (bytes < 0) this.#grant()
  }

  release(bytes: number): void {
    this.charge(-bytes)
  }

  /** One answer always fits, however large it is. */
  #hasRoomFor(bytes: number): boolean {
    return this.#usedBytes <= 0 || this.#usedBytes + bytes <= this.#maxBytes
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasRoomFor(waiter.bytes)) return
      this.#waiting.delete(waiter)
      this.#usedBytes += waiter.bytes
      waiter.resolve()
    }
  }
}

interface Waiter {
  readonly bytes: number
  readonly resolve: () => void
}
