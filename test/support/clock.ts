import type { Clock } from '../../src/kernel/clock.ts'

/** A clock that advances only when the test advances it. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void
  /** Sets the wall clock forward or back; the monotonic time does not change. */
  jump(milliseconds: number): void
}

export function fakeClock(start = Date.UTC(2026, 0, 31, 2)): FakeClock {
  let passed = 0
  let offset = 0
  return {
    now: () => start + offset + passed,
    monotonic: () => passed,
    advance(milliseconds) {
      passed += milliseconds
    },
    jump(milliseconds) {
      offset += milliseconds
    },
  }
}
