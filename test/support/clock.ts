import type { Clock } from '../../src/kernel/clock.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void
  /** Sets the wall clock forward, or back; no time passes. */
  jump(milliseconds: number): void
}

export function fakeClock(start = Date.UTC(2026, 0, 31, 2)): FakeClock {
  let passed = 0
  let setBy = 0
  return {
    now: () => start + setBy + passed,
    monotonic: () => passed,
    advance(milliseconds) {
      passed += milliseconds
    },
    jump(milliseconds) {
      setBy += milliseconds
    },
  }
}
