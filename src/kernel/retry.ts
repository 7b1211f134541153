export interface Backoff {
  /** The first wait, in milliseconds. */
  readonly initialMs: number
  /** No wait is longer than this. */
  readonly maximumMs: number
}

/**
 * Milliseconds to wait before retry `attempt` (0 = the first one): exponential up to the maximum, with jitter over the
 * upper half, so that clients that failed at the same time do not retry at the same time.
 */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(backoff.maximumMs, backoff.initialMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}
