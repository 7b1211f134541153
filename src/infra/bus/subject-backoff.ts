import type { Clock } from '../../kernel/clock.ts'
import { backoffMs } from '../../kernel/waiting.ts'

const BACKOFF = { initialMs: 100, maximumMs: 30_000 }

/** If more subjects with the same first token fail, their stream is probably the cause, and they wait together. */
const GROUP_SIZE = 100

/** The subjects of the messages of one batch, by their outcome. */
interface Results {
  readonly succeeded: readonly string[]
  readonly refused: readonly string[]
  readonly failed: readonly string[]
}

interface Failures {
  readonly count: number
  readonly retryAt: number
}

/**
 * The subjects whose last message failed, each with the time of its next attempt. Many of one kind
 * (`telemetry.agent.1`, `telemetry.agent.2`, …) are kept as one pattern (`telemetry.>`).
 */
export class SubjectBackoff {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether no subject has failed since its last success. */
  get isEmpty(): boolean {
    return this.#failures.size === 0
  }

  /** The subjects and patterns that have to wait now. */
  waiting(): string[] {
    const now = this.#clock.monotonic()
    return [...this.#failures].filter(([, { retryAt }]) => retryAt > now).map(([key]) => key)
  }

  /**
   * Records the results of one batch. A success ends the wait of all subjects of its pattern; a refusal that of its own
   * subject, because a full stream may not even have been asked.
   */
  update(results: Results): void {
    for (const subject of results.refused) this.#failures.delete(subject)
    for (const subject of results.succeeded) {
      this.#failures.delete(subject)
      this.#failures.delete(patternOf(subject))
    }
    for (const key of new Set(results.failed.map((subject) => this.#keyOf(subject)))) this.#fail(key)
    this.#mergeLargeGroups()
  }

  clear(): void {
    this.#failures.clear()
  }

  #keyOf(subject: string): string {
    const pattern = patternOf(subject)
    return this.#failures.has(pattern) ? pattern : subject
  }

  #fail(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    this.#failures.set(key, { count, retryAt: this.#clock.monotonic() + backoffMs(BACKOFF, count - 1) })
  }

  #mergeLargeGroups(): void {
    if (this.#failures.size <= GROUP_SIZE) return
    for (const [pattern, subjects] of Map.groupBy(this.#failures.keys(), patternOf)) {
      if (subjects.length <= GROUP_SIZE) continue
      for (const subject of subjects) this.#failures.delete(subject)
      this.#fail(pattern)
    }
  }
}

/** `telemetry.>` for `telemetry.agent.1`; a subject of one token is its own pattern. */
function patternOf(subject: string): string {
  const end = subject.indexOf('.')
  return end === -1 ? subject : `${subject.slice(0, end)}.>`
}
