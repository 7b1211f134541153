import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHANGING_ZONES,
  datesOf,
  daysOfClockChanges,
  firstMoment,
  READ_EVERY_MS,
  readClocks,
} from '../../../test/support/local-clock.ts'
import { DAY, MINUTE } from '../../kernel/time.ts'
import { nextRun } from './schedule.ts'

/** The minute and the hour of a run. */
const TIMES = [
  [0, 0],
  [30, 0],
  [45, 1],
  [0, 2],
  [15, 2],
  [30, 2],
  [0, 3],
  [30, 23],
] as const

for (const timeZone of CHANGING_ZONES) {
  const changes = daysOfClockChanges(timeZone)

  test(`a daily run comes once a day by the clocks of ${timeZone}, also around each change of ten years`, () => {
    assert.equal(changes.length, 20)
    for (const day of changes) {
      const readings = readClocks(timeZone, day - 2 * DAY, day + 3 * DAY)
      for (const [minute, hour] of TIMES) {
        const schedule = `${minute} ${hour} * * *`
        const seen = datesOf(readings).map((date) =>
          firstMoment(readings, date + (hour * 60 + minute) * MINUTE),
        )
        let at = (seen[0] ?? NaN) - 1
        for (const expected of seen) {
          at = nextRun(schedule, timeZone, at)
          assert.equal(at, expected, `${schedule} after ${new Date(day).toISOString()}`)
        }
      }
    }
  })

  test(`a run every quarter of an hour comes through each change of ${timeZone}`, () => {
    for (const day of changes) {
      for (let at = day; at < day + DAY; at += READ_EVERY_MS)
        assert.equal(nextRun('*/15 * * * *', timeZone, at), at + READ_EVERY_MS)
    }
  })
}
