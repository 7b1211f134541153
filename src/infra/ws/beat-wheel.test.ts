import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { createBeatWheel } from './beat-wheel.ts'

const ROUND_MS = 30_000

function wheelOf(members: number, roundMs = ROUND_MS) {
  const clock = fakeClock()
  const visits: { member: number; at: number }[] = []
  const wheel = createBeatWheel<number>(clock, roundMs, (member, at) => visits.push({ member, at }))
  const slots = Array.from({ length: members }, (_, member) => wheel.add(member))
  /** Turns as often as a timer would. */
  const run = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += wheel.slotMs) {
      clock.advance(wheel.slotMs)
      wheel.turn()
    }
  }
  return { clock, wheel, visits, slots, run }
}

test('every member is visited once in each round, a round apart', () => {
  const { visits, run } = wheelOf(1_000)
  run(3 * ROUND_MS)
  const times = Map.groupBy(visits, ({ member }) => member)
  assert.equal(times.size, 1_000)
  for (const each of times.values()) {
    const [first = { at: 0 }, second = { at: 0 }, third = { at: 0 }] = each
    assert.deepEqual([each.length, second.at - first.at, third.at - second.at], [3, ROUND_MS, ROUND_MS])
  }
})

test('members that come together are spread over the round', () => {
  const { visits, run } = wheelOf(5_000)
  run(ROUND_MS)
  const sizes = [...Map.groupBy(visits, ({ at }) => at).values()].map((each) => each.length)
  assert.equal(sizes.length, 300)
  assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1)
})

test('after a pause each member is visited once, and not for every round that was missed', () => {
  const { clock, wheel, visits, run } = wheelOf(10)
  run(ROUND_MS)
  visits.length = 0
  clock.advance(5 * ROUND_MS)
  wheel.turn()
  assert.equal(visits.length, 10)
  assert.equal(new Set(visits.map(({ member }) => member)).size, 10)
})

test('a late turn makes up for the slots that it missed', () => {
  const { clock, wheel, visits } = wheelOf(300)
  clock.advance(ROUND_MS / 2)
  wheel.turn()
  clock.advance(ROUND_MS / 2)
  wheel.turn()
  assert.equal(new Set(visits.map(({ member }) => member)).size, 300)
  assert.equal(visits.length, 300)
})

test('who was removed is visited no more, also while others are', () => {
  const { wheel, visits, slots, run } = wheelOf(3)
  wheel.remove(1, slots[1] ?? 0)
  run(ROUND_MS)
  assert.deepEqual(new Set(visits.map(({ member }) => member)), new Set([0, 2]))
})

for (const roundMs of [1, 40, 100, 24 * 86_400_000]) {
  test(`a round of ${roundMs} ms turns too`, () => {
    const { wheel, visits, run } = wheelOf(2, roundMs)
    assert.ok(wheel.slotMs > 0)
    run(roundMs)
    assert.equal(new Set(visits.map(({ member }) => member)).size, 2)
  })
}
