import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerClock } from './server-clock.ts'

const SERVER = Date.parse('2026-01-31T02:00:00Z')
const HOUR = 3_600_000
const answer = new Headers({ date: new Date(SERVER).toUTCString() })

test('a browser whose clock is hours off counts in the time of the platform', () => {
  for (const browser of [SERVER - 8 * HOUR, SERVER + 8 * HOUR]) {
    let passed = 0
    const clock = new ServerClock(() => browser + passed)
    assert.equal(clock.offsetMs.value, null)
    clock.observe(answer)
    passed = 60_000
    assert.equal(clock.now(), SERVER + 60_000)
  }
})

test('the seconds that an answer takes change nothing, and a clock that was set meanwhile is noticed', () => {
  let browser = SERVER + 2_000
  const clock = new ServerClock(() => browser)
  clock.observe(answer)
  assert.equal(clock.now(), browser)
  browser = SERVER - HOUR
  clock.observe(answer)
  assert.equal(clock.now(), SERVER)
})

test('an answer without a date says nothing', () => {
  const clock = new ServerClock(() => SERVER)
  clock.observe(new Headers())
  assert.equal(clock.offsetMs.value, null)
})
