import { setTimeout as pause } from 'node:timers/promises'

/** The only source of the current time. Tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step backwards when the system's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary start; never goes back. For durations and deadlines inside a process. */
  monotonic(): number
}

/** A clock with timers, so that a test also controls when a wait ends. */
export interface WaitingClock extends Clock {
  /**
   * Resolves after `milliseconds` (at most 2^31 - 1, some 24 days), or as soon as `signal` is aborted; never rejects.
   */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: WaitingClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (milliseconds, signal) =>
    pause(milliseconds, undefined, signal ? { signal } : {}).catch(() => undefined),
}
