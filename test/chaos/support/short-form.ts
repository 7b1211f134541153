import { setMaxListeners } from 'node:events'
import { describe, test } from 'node:test'
import { chanceOf } from '../../support/random.ts'
import { scopeOf } from '../../support/scope.ts'
import { figuresText, roundsOf, type Scenario } from './scenario.ts'

const FEWEST = 3
const ENOUGH_MS = 60_000

/** The scenario as tests, as short as it can be and still show something. */
export function shortForm({ name, promise, rounds, parts, hindrance }: Scenario): void {
  // Every process that is started listens for the end of this one.
  setMaxListeners(0, process)
  const skip = hindrance?.() ?? false
  describe(`${name}: ${promise}`, { concurrency: 2, skip }, () => {
    for (const part of parts) {
      test(part.title, async (t) => {
        const wanted = roundsOf(part, rounds.short)
        const startedAt = performance.now()
        const figures = await part.run({
          rounds: wanted,
          wantsMore: (done) => done < wanted && (done < FEWEST || performance.now() - startedAt < ENOUGH_MS),
          chance: chanceOf(t),
          scope: scopeOf(t),
          signal: t.signal,
          show: () => undefined,
        })
        t.diagnostic(figuresText(figures))
      })
    }
  })
}
