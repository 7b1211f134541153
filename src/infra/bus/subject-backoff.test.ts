import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { SubjectBackoff } from './subject-backoff.ts'

const NOTHING = { succeeded: [], refused: [], failed: [] }

const agents = (count: number) => Array.from({ length: count }, (_, index) => `telemetry.agent.${index}`)

test('forty thousand subjects of one kind wait as one pattern, others by themselves', () => {
  const backoff = new SubjectBackoff(fakeClock())
  backoff.update({ ...NOTHING, failed: ['order.created', 'telemetry'] })
  const subjects = agents(40_000)
  for (let at = 0; at < subjects.length; at += 500) {
    backoff.update({ ...NOTHING, failed: subjects.slice(at, at + 500) })
  }
  assert.deepEqual(backoff.waiting(), ['order.created', 'telemetry', 'telemetry.>'])
})

test('a pattern is tried again after a growing pause, and a success ends it', () => {
  const clock = fakeClock()
  const backoff = new SubjectBackoff(clock)
  const fail = () => backoff.update({ ...NOTHING, failed: agents(500) })
  fail()
  clock.advance(100)
  assert.deepEqual(backoff.waiting(), [])
  fail()
  fail()
  clock.advance(150)
  assert.deepEqual(backoff.waiting(), ['telemetry.>'])
  backoff.update({ ...NOTHING, succeeded: ['telemetry.agent.7'], failed: ['telemetry.agent.8'] })
  assert.deepEqual(backoff.waiting(), ['telemetry.agent.8'])
})

test('a hundred subjects of one kind still wait by themselves', () => {
  const backoff = new SubjectBackoff(fakeClock())
  backoff.update({ ...NOTHING, failed: [...agents(100), 'order.created'] })
  assert.equal(backoff.waiting().length, 101)
})

test('a refusal ends the wait of its subject, and not that of a pattern', () => {
  const backoff = new SubjectBackoff(fakeClock())
  backoff.update({ ...NOTHING, failed: ['order.created'] })
  backoff.update({ ...NOTHING, refused: ['order.created'], failed: agents(500) })
  backoff.update({ ...NOTHING, refused: ['telemetry.agent.7'] })
  assert.deepEqual(backoff.waiting(), ['telemetry.>'])
})
