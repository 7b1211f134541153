import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../kernel/time.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { RefusalLimit } from './refusals.ts'

const refusal = (remoteAddress: string, reason = 'the token is over') => ({
  remoteAddress,
  user: undefined,
  device: undefined,
  reason,
})

test('the first refusal is written at once, its repetitions as a number when the minute is over', () => {
  const clock = fakeClock()
  const limit = new RefusalLimit(clock)
  assert.deepEqual(limit.add(refusal('192.0.2.1')), [refusal('192.0.2.1')])
  for (let times = 0; times < 40; times++) assert.deepEqual(limit.add(refusal('192.0.2.1')), [])
  assert.deepEqual(limit.add(refusal('192.0.2.2')), [refusal('192.0.2.2')])
  assert.deepEqual(limit.takeDue(), [])
  clock.advance(MINUTE)
  assert.deepEqual(limit.takeDue(), [{ ...refusal('192.0.2.1'), repetitions: 40 }])
  assert.deepEqual(limit.add(refusal('192.0.2.1')), [refusal('192.0.2.1')])
})

test('a flood from many addresses becomes a bounded number of lines that together count every refusal', () => {
  const clock = fakeClock()
  const limit = new RefusalLimit(clock)
  const lines: unknown[] = []
  for (let index = 0; index < 10_000; index++) lines.push(...limit.add(refusal(`address ${index % 5_000}`)))
  assert.equal(lines.length, 60)
  const rest = limit.takeAll()
  assert.equal(rest.length, 61)
  const counted = rest.map(({ repetitions = 0 }) => repetitions)
  assert.equal(lines.length + counted.reduce((sum, times) => sum + times, 0), 10_000)
  assert.equal(rest.at(-1)?.remoteAddress, null)
})
