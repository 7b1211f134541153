import { setMaxListeners } from 'node:events'
import { describe, test } from 'node:test'
import { chanceOf } from '../../support/random.ts'
import { scopeOf } from '../../support/scope.ts'
import { figuresText, roundsOf, type Scenario } from './scenario.ts'

const MIN_ROUNDS = 3
const TIME_BUDGET_MS = 30_000
// Most parts wait for a fault to pass, or to be noticed.
const PARTS_AT_ONCE = 4

/** Defines the scenario as tests with its short number of rounds. */
export function shortForm({ name, promise, rounds, parts, unsupported }: Scenario): void {
  // Each started process adds a listener for the exit of this one.
  setMaxListeners(0, process)
  const skip = unsupported?.() ?? false
  describe(`${name}: ${promise}`, { concurrency: PARTS_AT_ONCE, skip }, () => {
    for (const part of parts) {
      test(part.title, async (t) => {
        const wanted = roundsOf(part, rounds.short)
        const startedAt = performance.now()
        const figures = await part.run({
          rounds: wanted,
          wantsMore: (done) =>
            done < wanted && (done < MIN_ROUNDS || performance.now() - startedAt < TIME_BUDGET_MS),
          chance: chanceOf(t),
          scope: scopeOf(t),
          signal: t.signal,
          requireTime: () => undefined,
          show: () => undefined,
        })
        t.diagnostic(figuresText(figures))
      })
    }
  })
}
