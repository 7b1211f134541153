import { signal } from '@preact/signals'

// The header has whole seconds, and a response takes a while: a smaller difference does not count.
const TOLERANCE_MS = 5_000

/**
 * The time of the platform, by the `Date` of its answers (RFC 9110, section 6.6.1): the clock of a reader may be hours off,
 * and times that are entered and compared here are the platform's.
 */
export class ServerClock {
  /** How far the platform is ahead of the browser, in milliseconds; null before its first answer. */
  readonly offsetMs = signal<number | null>(null)
  readonly #browserTime: () => number

  constructor(browserTime: () => number) {
    this.#browserTime = browserTime
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.#browserTime() + (this.offsetMs.peek() ?? 0)
  }

  /** Learns the time of an answer that has just arrived; one without a date says nothing. */
  observe(headers: Headers): void {
    const sentAt = Date.parse(headers.get('date') ?? '')
    if (Number.isNaN(sentAt)) return
    const offsetMs = sentAt - this.#browserTime()
    const isUnchanged = Math.abs(offsetMs - (this.offsetMs.peek() ?? 0)) < TOLERANCE_MS
    this.offsetMs.value = isUnchanged ? (this.offsetMs.peek() ?? 0) : offsetMs
  }
}
