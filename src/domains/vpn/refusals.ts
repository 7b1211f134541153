import type { Clock } from '../../kernel/clock.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Refusal } from '../../ports/session-registry.ts'

/** What the audit trail says of one refusal, or of many. */
export interface RefusalLine extends Omit<Refusal, 'remoteAddress'> {
  /** Null for a line that stands for many. */
  readonly remoteAddress: string | null
}

/**
 * Keeps a flood of bad tokens from becoming a flood of writes. What is new in a minute is written at once, up to a
 * limit; what repeats it, or is beyond the limit, is counted and written as a number when the minute is over.
 */
export interface RefusalLimit {
  /** Takes a refusal down; answers the lines to write now. */
  take(refusal: Refusal): RefusalLine[]
  /** The lines that are due now, as long as there is nothing to take down. */
  due(): RefusalLine[]
  /** All that is not written yet, whether it is due or not. */
  drain(): RefusalLine[]
}

// With the counts at its end a minute has twice as many lines and one, however many refusals there are.
const LINES_IN_A_MINUTE = 60

export function createRefusalLimit(clock: Clock): RefusalLimit {
  const repetitions = new Map<string, { readonly refusal: Refusal; times: number }>()
  let others = 0
  let startedAt = clock.monotonic()

  const drain = (): RefusalLine[] => {
    const lines = [...repetitions.values()].filter(({ times }) => times > 0).map(repeated)
    if (others > 0) lines.push(beyondLimit(others))
    repetitions.clear()
    others = 0
    startedAt = clock.monotonic()
    return lines
  }

  const due = () => (clock.monotonic() - startedAt >= MINUTE ? drain() : [])

  return {
    take(refusal) {
      const lines = due()
      const key = JSON.stringify([refusal.remoteAddress, refusal.userId, refusal.reason])
      const known = repetitions.get(key)
      if (known) known.times++
      else if (repetitions.size >= LINES_IN_A_MINUTE) others++
      else {
        repetitions.set(key, { refusal, times: 0 })
        lines.push(refusal)
      }
      return lines
    },
    due,
    drain,
  }
}

function repeated({ refusal, times }: { refusal: Refusal; times: number }): RefusalLine {
  return { ...refusal, reason: `${refusal.reason} (${times} more within a minute)` }
}

function beyondLimit(times: number): RefusalLine {
  return {
    remoteAddress: null,
    userId: undefined,
    reason: `${times} more refusals within a minute, from other addresses or for other reasons`,
  }
}
