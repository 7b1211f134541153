import { createHash, randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

/** A random number generator that is repeatable by its seed. */
export interface Chance {
  readonly seed: number
  /** At least 0 and less than 1. */
  number(): number
  /** An integer from `least` to `most`, inclusive. */
  between(least: number, most: number): number
  pick<T>(items: readonly T[]): T
}

/** The generator of a test. Its seed is printed with the result; `SEED=…` in the environment repeats the run. */
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

/** Numbers that depend only on the seed: slower than a generator for simulations, and fast enough for tests. */
function numbersFrom(seed: number): () => number {
  let count = 0
  return () => createHash('sha256').update(`${seed}/${count++}`).digest().readUInt32BE(0) / 2 ** 32
}
