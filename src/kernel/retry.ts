export interface Backoff {
  /** The first wait, in milliseconds. */
  readonly initialMs: number
  /** No wait is longer than this. */
  readonly maximumMs: number
}

/**
 * How long to wait before attempt `attempt` (0 = the first retry): doubling, capped, with full jitter in the upper
 * half, so that many who failed together do not come back together.
 */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(backoff.maximumMs, backoff.initialMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}
