import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextDrill, nextRun } from './next-run.ts'

const at = (text: string) => Date.parse(text)
const utc = (milliseconds: number) => new Date(milliseconds).toISOString()

for (const [what, zone, now, expected] of [
  ['the same night', 'Europe/Berlin', '2026-01-31T00:59:59Z', '2026-01-31T01:00:00.000Z'],
  [
    'the next night, at the very instant',
    'Europe/Berlin',
    '2026-01-31T01:00:00Z',
    '2026-02-01T01:00:00.000Z',
  ],
  ['a night without 02:00 in Berlin', 'Europe/Berlin', '2027-03-27T12:00:00Z', '2027-03-28T01:05:00.000Z'],
  ['a night with two 02:00 in Berlin', 'Europe/Berlin', '2027-10-30T12:00:00Z', '2027-10-31T00:00:00.000Z'],
  [
    'the night after it, between the two',
    'Europe/Berlin',
    '2027-10-31T00:30:00Z',
    '2027-11-01T01:00:00.000Z',
  ],
  [
    'a night without 02:00 in New York',
    'America/New_York',
    '2027-03-13T12:00:00Z',
    '2027-03-14T07:05:00.000Z',
  ],
  [
    'a night without 02:00 to 02:30 on Lord Howe',
    'Australia/Lord_Howe',
    '2027-10-02T10:00:00Z',
    '2027-10-02T16:05:00.000Z',
  ],
  ['a night without midnight in Cairo', 'Africa/Cairo', '2027-04-29T12:00:00Z', '2027-04-29T23:00:00.000Z'],
  [
    'a night without 01:00 to 03:00 at Troll',
    'Antarctica/Troll',
    '2027-03-27T12:00:00Z',
    '2027-03-28T01:05:00.000Z',
  ],
] as const) {
  test(`the next run is in ${what}`, () => {
    assert.equal(utc(nextRun(at(now), zone)), expected)
  })
}

test('the next run follows the window', () => {
  const window = { start: '22:30', end: '23:30', retryEveryMs: 60_000 }
  assert.equal(utc(nextRun(at('2026-01-31T12:00:00Z'), 'UTC', window)), '2026-01-31T22:30:00.000Z')
})

test('the next drill is on the first of a month at 07:00', () => {
  assert.equal(utc(nextDrill(at('2026-01-01T07:00:00Z'), 'UTC')), '2026-02-01T07:00:00.000Z')
  assert.equal(utc(nextDrill(at('2026-02-01T06:59:59Z'), 'UTC')), '2026-02-01T07:00:00.000Z')
})
