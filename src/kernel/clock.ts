/** The only source of the present. A test hands in its own. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step backwards when the system's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary start; never goes back. For durations and deadlines inside a process. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
