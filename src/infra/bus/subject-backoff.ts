import type { Clock } from '../../kernel/clock.ts'
import { backoffMs } from '../../kernel/retry.ts'

const BACKOFF = { initialMs: 100, maximumMs: 30_000 }

interface Failures {
  readonly count: number
  readonly retryAt: number
}

/** The subjects whose last message failed, each with the time of its next attempt. */
export class SubjectBackoff {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#failures.size
  }

  /** The subjects that have to wait now. */
  waiting(): string[] {
    const now = this.#clock.monotonic()
    return [...this.#failures].filter(([, { retryAt }]) => retryAt > now).map(([subject]) => subject)
  }

  fail(subject: string): void {
    const count = (this.#failures.get(subject)?.count ?? 0) + 1
    this.#failures.set(subject, { count, retryAt: this.#clock.monotonic() + backoffMs(BACKOFF, count - 1) })
  }

  succeed(subject: string): void {
    this.#failures.delete(subject)
  }

  clear(): void {
    this.#failures.clear()
  }
}
