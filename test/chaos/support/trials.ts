import assert from 'node:assert/strict'
import { chanceFrom } from '../../support/random.ts'
import { roundsOf, type Figures, type Part, type Scenario } from './scenario.ts'

export interface Outcome {
  readonly scenario: string
  readonly row: string
  readonly part: string
  readonly result: 'kept' | 'broken' | 'unsupported'
  readonly rounds: number
  readonly seconds: number
  readonly figures: Figures
  /** The error of a broken promise, or why the scenario is unsupported. */
  readonly reason?: string
}

export interface TrialOptions {
  readonly rounds: number | undefined
  /** Whether this is a part of a run of all scenarios. */
  readonly isBrief: boolean
  readonly seed: number
  readonly signal: AbortSignal
  show(text: string): void
}

/** Runs the parts of a scenario one after the other, and yields what became of each. */
export async function* tryScenario(scenario: Scenario, options: TrialOptions): AsyncIterable<Outcome> {
  const unsupported = scenario.unsupported?.()
  for (const part of scenario.parts) {
    options.signal.throwIfAborted()
    const rounds = roundsOf(part, options.rounds ?? defaultRounds(scenario, options))
    const about = { scenario: scenario.name, row: scenario.row, part: part.title, rounds }
    if (unsupported) yield { ...about, result: 'unsupported', seconds: 0, figures: {}, reason: unsupported }
    else yield { ...about, ...(await tryPart(part, rounds, about.scenario, options)) }
  }
}

function defaultRounds({ rounds: { full, brief = full } }: Scenario, { isBrief }: TrialOptions): number {
  return isBrief ? brief : full
}

async function tryPart(part: Part, rounds: number, name: string, { seed, signal, show }: TrialOptions) {
  const start = performance.now()
  const seconds = () => (performance.now() - start) / 1_000
  const scope = new AsyncDisposableStack()
  const trial = {
    rounds,
    wantsMore: (done: number) => done < rounds,
    chance: chanceFrom(seed),
    scope,
    signal,
    requireTime: (what: string, milliseconds: number, limitMs: number) =>
      assert.ok(milliseconds < limitMs, `${what} took ${milliseconds} ms`),
    show: (text: string) => show(`${name}, ${part.title}: ${text}`),
  }
  try {
    const figures = await part.run(trial)
    return { result: 'kept' as const, seconds: seconds(), figures }
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { result: 'broken' as const, seconds: seconds(), figures: {}, reason }
  } finally {
    await scope.disposeAsync()
  }
}
