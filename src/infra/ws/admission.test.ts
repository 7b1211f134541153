import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Coalescer, ConnectionRate } from './admission.ts'
import { fakeClock } from '../../../test/support/clock.ts'

test('calls that arrive while another one waits continue together with it', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 8 })
  const continued: string[] = []
  const call = (name: string) => coalescer.join().then(() => continued.push(name))
  const first = call('first')
  const others = [call('second'), call('third')]
  await first
  assert.deepEqual(continued, ['first', 'second', 'third'])
  await Promise.all(others)
})

test('a single call continues too, again and again', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 8 })
  for (let time = 0; time < 3; time++) await coalescer.join()
})

test('a group continues although more calls keep arriving', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 2 })
  let isOver = false
  const first = coalescer.join().then(() => (isOver = true))
  const later: Promise<void>[] = []
  while (!isOver) {
    later.push(coalescer.join())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([first, ...later])
})

function rateOf(maxNetworks = 100) {
  const clock = fakeClock()
  return { clock, rate: new ConnectionRate({ clock, perSecond: 50, burst: 500, maxNetworks }) }
}

const countAllowed = (rate: ConnectionRate, address: string, attempts: number) =>
  Array.from({ length: attempts }, () => rate.take(address)).filter((wait) => wait === undefined).length

test('allows 500 connections at once, then 50 per second', () => {
  const { clock, rate } = rateOf()
  assert.equal(countAllowed(rate, 'a', 600), 500)
  clock.advance(1_000)
  assert.equal(countAllowed(rate, 'a', 600), 50)
})

test('a refusal says when the next connection is allowed, and it is allowed then', () => {
  const { clock, rate } = rateOf()
  countAllowed(rate, 'a', 500)
  const waitSeconds = rate.take('a') ?? 0
  assert.ok(Math.abs(waitSeconds - 0.02) < 1e-9)
  clock.advance(20)
  assert.equal(rate.take('a'), undefined)
})

test('each address is counted by itself', () => {
  const { rate } = rateOf()
  countAllowed(rate, 'a', 600)
  assert.equal(countAllowed(rate, 'b', 600), 500)
})

test('all addresses of an IPv6 /64 are counted together', () => {
  const { rate } = rateOf()
  countAllowed(rate, '2001:db8::1', 600)
  assert.equal(countAllowed(rate, '2001:db8::2', 600), 0)
  assert.equal(countAllowed(rate, '2001:db8:0:1::1', 600), 500)
})

test('an idle address saves up no more than one burst', () => {
  const { clock, rate } = rateOf()
  countAllowed(rate, 'a', 600)
  clock.advance(86_400_000)
  assert.equal(countAllowed(rate, 'a', 600), 500)
})

test('when there are too many addresses, the least recently used one is dropped', () => {
  const { rate } = rateOf(3)
  for (const address of ['a', 'b', 'c']) countAllowed(rate, address, 500)
  assert.notEqual(rate.take('a'), undefined)
  assert.equal(rate.take('d'), undefined)
  assert.notEqual(rate.take('a'), undefined, 'a was used again before d connected')
  assert.equal(rate.take('b'), undefined, 'b was dropped for d')
})
