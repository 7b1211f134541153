/** The only source of the present. A test hands in its own. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step backwards when the system's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary start; never goes back. For durations and deadlines inside a process. */
  monotonic(): number
}

/** A clock that can be waited on, so that a test also decides when a pause ends. */
export interface WaitingClock extends Clock {
  /** Resolves after that time, or as soon as the signal is aborted; never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
