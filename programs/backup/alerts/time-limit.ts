import type { Clock } from '../../../src/kernel/clock.ts'

/** A limit for the time that several steps take in all. Steps at the same time count once. */
export class TimeLimit {
  readonly #clock: Clock
  #leftMs: number
  #steps = 0
  #since = 0

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock
    this.#leftMs = limitMs
  }

  /** Milliseconds; 0 or less when the limit is reached. */
  left(): number {
    return this.#leftMs - (this.#steps > 0 ? this.#clock.monotonic() - this.#since : 0)
  }

  /** Runs a step, whose duration counts. */
  async spend<T>(step: () => Promise<T>): Promise<T> {
    if (this.#steps++ === 0) this.#since = this.#clock.monotonic()
    try {
      return await step()
    } finally {
      if (--this.#steps === 0) this.#leftMs -= this.#clock.monotonic() - this.#since
    }
  }
}
