import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { createConnectionRate } from './connection-rate.ts'

function rateOf(limit = 100) {
  const clock = fakeClock()
  return { clock, rate: createConnectionRate({ clock, perSecond: 50, burst: 500, limit }) }
}

const takeMany = (rate: ReturnType<typeof rateOf>['rate'], address: string, count: number) =>
  Array.from({ length: count }, () => rate.take(address)).filter((wait) => wait === undefined).length

test('500 may come at once, and 50 in each second after that', () => {
  const { clock, rate } = rateOf()
  assert.equal(takeMany(rate, 'a', 600), 500)
  clock.advance(1_000)
  assert.equal(takeMany(rate, 'a', 600), 50)
})

test('who is refused is told when the next one may come, and it may then', () => {
  const { clock, rate } = rateOf()
  takeMany(rate, 'a', 500)
  const waitSeconds = rate.take('a') ?? 0
  assert.ok(Math.abs(waitSeconds - 0.02) < 1e-9)
  clock.advance(20)
  assert.equal(rate.take('a'), undefined)
})

test('addresses do not count for each other', () => {
  const { rate } = rateOf()
  takeMany(rate, 'a', 600)
  assert.equal(takeMany(rate, 'b', 600), 500)
})

test('no more comes together than the burst, however long nobody came', () => {
  const { clock, rate } = rateOf()
  takeMany(rate, 'a', 600)
  clock.advance(86_400_000)
  assert.equal(takeMany(rate, 'a', 600), 500)
})

test('many addresses are forgotten in the order in which they were used', () => {
  const { rate } = rateOf(3)
  for (const address of ['a', 'b', 'c']) takeMany(rate, address, 500)
  assert.notEqual(rate.take('a'), undefined)
  assert.equal(rate.take('d'), undefined)
  assert.notEqual(rate.take('a'), undefined, 'used again before d came')
  assert.equal(rate.take('b'), undefined, 'forgotten for d')
})
