/** The only source of the current time. Tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step backwards when the system's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary start; never goes back. For durations and deadlines inside a process. */
  monotonic(): number
}

/** A clock with timers, so that a test also controls when a wait ends. */
export interface WaitingClock extends Clock {
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted; never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
