import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chanceFrom } from '../../support/random.ts'
import { SCENARIOS } from '../scenarios.ts'
import { parseRequest } from './command-line.ts'
import type { Scenario } from './scenario.ts'
import { tryScenario } from './trials.ts'

const OPTIONS = { rounds: 10, seed: 7, signal: new AbortController().signal, show: () => undefined }

function scenario(parts: Scenario['parts'], hindrance?: () => string): Scenario {
  const rounds = { short: 1, full: 100 }
  const about = { name: 'made-up', row: 'R-0', promise: 'it holds', unit: 'rounds', rounds, parts }
  return hindrance ? { ...about, hindrance } : about
}

test('a scenario, its rounds and its seed are asked for by the command line', () => {
  const request = parseRequest(['kill-storm', '--rounds', '3', '--seed', '9', '--json'], SCENARIOS)
  assert.ok(request.kind === 'run')
  assert.deepEqual(
    [request.scenarios.map(({ name }) => name), request.rounds, request.seed, request.json],
    [['kill-storm'], 3, 9, true],
  )
})

test('all are asked for at once, and none lists them', () => {
  const request = parseRequest(['all'], SCENARIOS)
  assert.ok(request.kind === 'run' && request.scenarios.length === SCENARIOS.length)
  assert.equal(parseRequest([], SCENARIOS).kind, 'list')
})

for (const args of [
  ['no-such'],
  ['all', 'drain'],
  ['drain', '--rounds', '0'],
  ['drain', '--seed', 'x'],
  ['drain', '--fast'],
]) {
  test(`${JSON.stringify(args)} is refused, with what is wrong`, () => {
    const request = parseRequest(args, SCENARIOS)
    assert.ok(request.kind === 'wrong')
    assert.match(request.message, /all|--rounds|--seed|--fast/)
  })
}

test('every scenario has its short form among the tests', () => {
  const tests = readdirSync(join(import.meta.dirname, '..')).filter((name) => name.endsWith('.test.ts'))
  assert.deepEqual(tests.sort(), SCENARIOS.map(({ name }) => `${name}.test.ts`).sort())
})

test('a part that rejects has broken its promise, and the others are tried all the same', async () => {
  const closed: string[] = []
  const outcomes = await tryScenario(
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

test('what cannot be shown here says why', async () => {
  const [outcome] = await tryScenario(
    scenario([{ title: 'a', run: async () => ({}) }], () => 'it needs root'),
    OPTIONS,
  )
  assert.deepEqual([outcome?.result, outcome?.reason], ['not possible here', 'it needs root'])
})

test('a seed repeats what chance gives', () => {
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
