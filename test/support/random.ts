import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

/** Chance that a seed repeats. */
export interface Chance {
  readonly seed: number
  /** From 0 up to 1, without 1. */
  number(): number
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  pick<T>(items: readonly T[]): T
}

/** The chance of one test; its seed is printed with the test's result, and `SEED=…` in the environment repeats it. */
export function chanceOf(t: TestContext): Chance {
  const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
  t.diagnostic(`SEED=${seed}`)
  const number = mulberry32(seed)
  const between = (least: number, most: number) => least + Math.floor(number() * (most - least + 1))
  return { seed, number, between, pick: (items) => items[between(0, items.length - 1)] as (typeof items)[0] }
}

/** https://gist.github.com/tommyettinger/46a874533244883189143505d203312c: public domain, good enough for tests. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
