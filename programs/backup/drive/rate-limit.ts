import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { SECOND } from '../../../src/kernel/time.ts'

// Ten steps in a second
const STEPS_PER_SECOND = 10

/** Passes bytes on at a limited rate. */
export class RateLimit {
  readonly #clock: WaitingClock
  readonly #bytesPerSecond: number
  #freeAt = 0

  constructor(clock: WaitingClock, bytesPerSecond: number) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
  }

  async *apply(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const step = Math.max(1, Math.floor(this.#bytesPerSecond / STEPS_PER_SECOND))
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += step) {
        const piece = chunk.subarray(at, at + step)
        await this.#reserve(piece.length)
        yield piece
      }
    }
  }

  async #reserve(bytes: number): Promise<void> {
    const now = this.#clock.monotonic()
    const startAt = Math.max(now, this.#freeAt)
    this.#freeAt = startAt + (bytes * SECOND) / this.#bytesPerSecond
    if (startAt > now) await this.#clock.wait(startAt - now)
  }
}
