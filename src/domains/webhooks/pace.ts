import type { WaitingClock } from '../../kernel/clock.ts'

export interface PaceOptions {
  readonly clock: WaitingClock
  /** Which part of the time the event loop was busy since the last call: 0 to 1. */
  readonly utilization: () => number
}

const PROBE_MS = 50
const FREE_MS = 500
const BUSY = 0.8
const SHARE = 5

/**
 * Lets requests go first. Deliveries run at full speed while the process has time left. The process is observed for a
 * moment, twice a second, in which deliveries wait; while requests alone keep it busy, there are only a few at a time, so
 * that they take some hundredths of its time.
 */
export class Pace {
  readonly #options: PaceOptions
  #freeUntil = Number.NEGATIVE_INFINITY
  #probe: Promise<void> | undefined
  #left = 0

  constructor(options: PaceOptions) {
    this.#options = options
  }

  /** How many of `wanted` may begin now, at least one; may wait a moment. */
  async turn(wanted: number): Promise<number> {
    for (;;) {
      if (this.#options.clock.monotonic() < this.#freeUntil) return wanted
      if (this.#left > 0) return this.#take(wanted)
      await (this.#probe ??= this.#observe())
    }
  }

  #take(wanted: number): number {
    const taken = Math.min(wanted, this.#left)
    this.#left -= taken
    return taken
  }

  async #observe(): Promise<void> {
    const { clock, utilization } = this.#options
    utilization()
    await clock.wait(PROBE_MS)
    if (utilization() < BUSY) this.#freeUntil = clock.monotonic() + FREE_MS
    else this.#left = SHARE
    this.#probe = undefined
  }
}
