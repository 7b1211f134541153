import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'

/** A clock that can be waited on, so that a test moves time for the client as a whole. */
export interface WaitingClock extends Clock {
  /** Resolves after that time, or as soon as the signal is aborted; never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const systemWaitingClock: WaitingClock = {
  ...systemClock,
  wait: (milliseconds, signal) =>
    pause(milliseconds, undefined, signal ? { signal } : {}).catch(() => undefined),
}
