import type { Clock } from '../../src/kernel/clock.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void
}

export function fakeClock(start = Date.UTC(2026, 0, 31, 2)): FakeClock {
  let now = start
  return {
    now: () => now,
    monotonic: () => now - start,
    advance(milliseconds) {
      now += milliseconds
    },
  }
}
