/** So many at once, then one each `everyMs`. In any window of w milliseconds at most burst + w / everyMs. */
export interface RateLimit {
  readonly burst: number
  readonly everyMs: number
}

/** What is left of a rate limit; plain data, to be kept where a later process finds it. */
export interface PaceState {
  readonly tokens: number
  /** When `tokens` was true, in milliseconds since the epoch. */
  readonly at: number
  readonly blockedUntil: number
}

// A robot that asks for a longer pause than this is not believed: nor is one whose request outlived a clock's step.
const LONGEST_PAUSE_MS = 24 * 3_600_000

export interface Pace {
  /** Takes a turn and answers 0, or answers how many milliseconds are left until there is one. */
  take(): number
  /** The robot wants to hear nothing for so long. */
  pause(milliseconds: number): void
  state(): PaceState
}

/** A token bucket. A clock that was set back costs waiting time, never a turn too many. */
export function createPace({ burst, everyMs }: RateLimit, now: () => number, from?: PaceState): Pace {
  let tokens = Math.min(burst, Math.max(0, from?.tokens ?? burst))
  let at = from?.at ?? now()
  let blockedUntil = from?.blockedUntil ?? 0

  const refill = (present: number) => {
    tokens = Math.min(burst, tokens + Math.max(0, present - at) / everyMs)
    at = present
    blockedUntil = Math.min(blockedUntil, present + LONGEST_PAUSE_MS)
  }

  return {
    take() {
      const present = now()
      refill(present)
      if (blockedUntil > present) return blockedUntil - present
      if (tokens < 1) return Math.ceil((1 - tokens) * everyMs)
      tokens -= 1
      return 0
    },
    pause(milliseconds) {
      blockedUntil = Math.max(blockedUntil, now() + milliseconds)
    },
    state: () => ({ tokens, at, blockedUntil }),
  }
}
