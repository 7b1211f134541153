import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarLines, DRILL_DAYS, drillTime, retryTimes, runTimes, type NightWindow } from './calendar.ts'

const NIGHT: NightWindow = { start: '02:00', end: '06:00', retryEveryMs: 1_800_000 }
const lines = (times: readonly number[]) => calendarLines(times, 'Europe/Berlin')

test('a night is called at 02:00, and again at 03:05 for nights that have no 02:00', () => {
  assert.deepEqual(
    runTimes(NIGHT).flatMap((time) => lines([time])),
    ['*-*-* 02:00:00 Europe/Berlin', '*-*-* 03:05:00 Europe/Berlin'],
  )
})

test('retries are due at every half hour from 02:30 to 06:00', () => {
  assert.deepEqual(lines(retryTimes(NIGHT)), [
    '*-*-* 02:30:00 Europe/Berlin',
    '*-*-* 03:00,30:00 Europe/Berlin',
    '*-*-* 04:00,30:00 Europe/Berlin',
    '*-*-* 05:00,30:00 Europe/Berlin',
    '*-*-* 06:00:00 Europe/Berlin',
  ])
})

test('the end of the window is a call of its own, whatever the period is', () => {
  assert.deepEqual(lines(retryTimes({ ...NIGHT, retryEveryMs: 5_400_000 })), [
    '*-*-* 03:30:00 Europe/Berlin',
    '*-*-* 05:00:00 Europe/Berlin',
    '*-*-* 06:00:00 Europe/Berlin',
  ])
  assert.deepEqual(lines(retryTimes({ ...NIGHT, retryEveryMs: 86_400_000 })), [
    '*-*-* 06:00:00 Europe/Berlin',
  ])
  assert.equal(retryTimes({ ...NIGHT, retryEveryMs: 1_000 }).length, 240)
})

test('the drill is on the first day of each month, an hour after the window', () => {
  assert.deepEqual(calendarLines([drillTime(NIGHT)], 'UTC', DRILL_DAYS), ['*-*-01 07:00:00 UTC'])
})
