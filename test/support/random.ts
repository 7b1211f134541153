import { createHash, randomInt } from 'node:crypto'
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
  const seed = Number(process.env['SEED'] ?? newSeed())
  t.diagnostic(`SEED=${seed}`)
  return chanceFrom(seed)
}

export function newSeed(): number {
  return randomInt(2 ** 31)
}

export function chanceFrom(seed: number): Chance {
  const number = numbersFrom(seed)
  const between = (least: number, most: number) => least + Math.floor(number() * (most - least + 1))
  return { seed, number, between, pick: (items) => items[between(0, items.length - 1)] as (typeof items)[0] }
}

/** Numbers that only the seed decides: far slower than a generator for simulations, and fast enough for tests. */
function numbersFrom(seed: number): () => number {
  let count = 0
  return () => createHash('sha256').update(`${seed}/${count++}`).digest().readUInt32BE(0) / 2 ** 32
}
