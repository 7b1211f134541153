import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceFrom } from '../../support/random.ts'
import { SCENARIOS } from '../scenarios.ts'
import { parseRequest } from './command-line.ts'
import type { Scenario } from './scenario.ts'
import { tryScenario } from './trials.ts'

const OPTIONS = {
  rounds: 10,
  isBrief: false,
  seed: 7,
  signal: new AbortController().signal,
  show: () => undefined,
}

function scenario(parts: Scenario['parts'], unsupported?: () => string): Scenario {
  const rounds = { short: 1, brief: 10, full: 100 }
  const about = { name: 'made-up', row: 'R-0', promise: 'it holds', unit: 'rounds', rounds, parts }
  return unsupported ? { ...about, unsupported } : about
}

test('the arguments select a scenario, its rounds and its seed', () => {
  const request = parseRequest(['kill-storm', '--rounds', '3', '--seed', '9', '--json'], SCENARIOS)
  assert.ok(request.kind === 'run')
  assert.deepEqual(
    [request.scenarios.map(({ name }) => name), request.rounds, request.seed, request.json],
    [['kill-storm'], 3, 9, true],
  )
})

test('`all` selects every scenario, and no argument lists them', () => {
  const request = parseRequest(['all'], SCENARIOS)
  assert.ok(request.kind === 'run' && request.scenarios.length === SCENARIOS.length && request.isBrief)
  assert.equal(parseRequest([], SCENARIOS).kind, 'list')
})

for (const args of [
  ['no-such'],
  ['all', 'drain'],
  ['drain', '--rounds', '0'],
  ['drain', '--seed', 'x'],
  ['drain', '--fast'],
]) {
  test(`${JSON.stringify(args)} is refused with a reason`, () => {
    const request = parseRequest(args, SCENARIOS)
    assert.ok(request.kind === 'wrong')
    assert.match(request.message, /all|--rounds|--seed|--fast/)
  })
}

test('a part that rejects is reported as broken, and the other parts still run', async () => {
  const closed: string[] = []
  const outcomes = await Array.fromAsync(
    tryScenario(
      scenario([
        {
          title: 'breaks',
          run: async ({ scope }) => (
            scope.defer(() => void closed.push('breaks')),
            Promise.reject(new Error('lost 1'))
          ),
        },
        { title: 'holds', share: 0.5, run: async ({ rounds, chance }) => ({ rounds, chance: chance.seed }) },
      ]),
      OPTIONS,
    ),
  )
  assert.deepEqual(
    outcomes.map(({ part, result }) => [part, result]),
    [
      ['breaks', 'broken'],
      ['holds', 'kept'],
    ],
  )
  assert.match(outcomes[0]?.reason ?? '', /lost 1/)
  assert.deepEqual(outcomes[1]?.figures, { rounds: 5, chance: 7 })
  assert.deepEqual(closed, ['breaks'])
})

test('a run of all has fewer rounds', async () => {
  const brief = scenario([{ title: 'a', run: async ({ rounds }) => ({ rounds }) }])
  const roundsOf = async (isBrief: boolean) => {
    const [outcome] = await Array.fromAsync(tryScenario(brief, { ...OPTIONS, rounds: undefined, isBrief }))
    return outcome?.rounds
  }
  assert.deepEqual([await roundsOf(false), await roundsOf(true)], [100, 10])
})

test('an unsupported scenario is reported with its reason', async () => {
  const [outcome] = await Array.fromAsync(
    tryScenario(
      scenario([{ title: 'a', run: async () => ({}) }], () => 'it needs root'),
      OPTIONS,
    ),
  )
  assert.deepEqual([outcome?.result, outcome?.reason], ['unsupported', 'it needs root'])
})

test('the same seed gives the same random numbers', () => {
  const numbers = () =>
    Array.from(
      { length: 5 },
      (
        (chance) => () =>
          chance.between(0, 1_000_000)
      )(chanceFrom(42)),
    )
  assert.deepEqual(numbers(), numbers())
})
