import type { Clock } from '../../kernel/clock.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Refusal } from '../../ports/session-registry.ts'

/** The entry of the audit trail for one refusal, or for several. */
export interface RefusalSummary extends Omit<Refusal, 'remoteAddress'> {
  /** Null for a summary of refusals from many addresses. */
  readonly remoteAddress: string | null
  /** How many more there were within a minute. */
  readonly repetitions?: number
}

// A minute has at most this number of refusals, as many summaries of their repetitions, and one summary of all others.
const MAX_PER_MINUTE = 60

/**
 * Limits the writes that many invalid tokens can cause. Up to a limit, different refusals of a minute are written at once;
 * repetitions, and refusals above the limit, are counted, and their number is written at the end of the minute.
 */
export class RefusalLimit {
  readonly #clock: Clock
  readonly #repetitions = new Map<string, { readonly refusal: Refusal; times: number }>()
  #beyondLimit = 0
  #startedAt: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  /** Counts a refusal; returns what is to be written now. */
  add(refusal: Refusal): RefusalSummary[] {
    const due: RefusalSummary[] = this.takeDue()
    const key = JSON.stringify([refusal.remoteAddress, refusal.user?.id, refusal.device, refusal.reason])
    const repetition = this.#repetitions.get(key)
    if (repetition) repetition.times++
    else if (this.#repetitions.size >= MAX_PER_MINUTE) this.#beyondLimit++
    else {
      this.#repetitions.set(key, { refusal, times: 0 })
      due.push(refusal)
    }
    return due
  }

  /** The summaries of a minute that is over. */
  takeDue(): RefusalSummary[] {
    return this.#clock.monotonic() - this.#startedAt >= MINUTE ? this.takeAll() : []
  }

  /** All summaries that are not written yet. */
  takeAll(): RefusalSummary[] {
    const repeated = [...this.#repetitions.values()].filter(({ times }) => times > 0)
    const summaries = repeated.map(repetitionSummary)
    if (this.#beyondLimit > 0) summaries.push(limitSummary(this.#beyondLimit))
    this.#repetitions.clear()
    this.#beyondLimit = 0
    this.#startedAt = this.#clock.monotonic()
    return summaries
  }
}

function repetitionSummary({ refusal, times }: { refusal: Refusal; times: number }): RefusalSummary {
  return { ...refusal, repetitions: times }
}

function limitSummary(times: number): RefusalSummary {
  return {
    remoteAddress: null,
    user: undefined,
    device: undefined,
    reason: `${times} more refusals within a minute, from other addresses or for other reasons`,
    repetitions: times,
  }
}
