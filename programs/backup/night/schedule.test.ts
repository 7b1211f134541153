import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/kernel/time.ts'
import { newBackupId } from './local-time.ts'
import { dueForRetry, dueForRetryLoop, dueForSchedule } from './schedule.ts'
import { EMPTY_STATE, type BackupState, type RunRecord } from './state.ts'

const BERLIN = {
  timeZone: 'Europe/Berlin',
  windowStart: '02:00',
  windowEnd: '06:00',
  retryEveryMs: 30 * MINUTE,
}
const RUN: RunRecord = {
  backupId: '20260131-020000',
  date: '2026-01-31',
  startedAt: Date.parse('2026-01-31T01:00:00Z'),
  status: 'failed',
  reached: 'packaged',
  job: 'upload',
  durations: {},
  failure: {
    errorCode: 'drive_unreachable',
    message: 'The drive cannot be reached.',
    job: 'upload',
    at: Date.parse('2026-01-31T01:10:00Z'),
  },
}
const night = (changes: object = {}) => ({ date: '2026-01-31', failures: 1, ...changes })
const STATES = {
  'no run': EMPTY_STATE,
  'a failed run': { ...EMPTY_STATE, run: RUN, nights: [night()] },
  'a killed run': { ...EMPTY_STATE, run: { ...RUN, status: 'running' } },
  'a success': {
    ...EMPTY_STATE,
    run: { ...RUN, status: 'done', reached: 'rebooting' },
    nights: [night({ failures: 0, succeededAt: 1 })],
  },
  'a success whose cleaning failed': {
    ...EMPTY_STATE,
    run: { ...RUN, reached: 'succeeded' },
    nights: [night({ succeededAt: 1 })],
  },
  'a success and a second run that failed': {
    ...EMPTY_STATE,
    run: RUN,
    nights: [night({ succeededAt: 1 })],
  },
  'a success and a second run that was killed': {
    ...EMPTY_STATE,
    run: { ...RUN, status: 'running' },
    nights: [night({ failures: 0, succeededAt: 1 })],
  },
  'a lost night': { ...EMPTY_STATE, run: RUN, nights: [night({ failures: 8, lostAt: 1 })] },
} as const satisfies Record<string, BackupState>

describe('on 2026-01-31 in Berlin', () => {
  // The local time; what run --scheduled and retry --once have to do.
  const cases: readonly (readonly [keyof typeof STATES, string, string, string])[] = [
    ['no run', '01:59', 'nothing', 'nothing'],
    ['no run', '02:00', 'run', 'nothing'],
    ['no run', '05:59', 'run', 'nothing'],
    ['no run', '06:00', 'nothing', 'nothing'],
    ['a failed run', '03:00', 'nothing', 'retry'],
    ['a failed run', '05:59', 'nothing', 'retry'],
    ['a failed run', '06:00', 'nothing', 'lost'],
    ['a failed run', '23:59', 'nothing', 'lost'],
    ['a killed run', '03:00', 'run', 'retry'],
    ['a killed run', '06:00', 'nothing', 'lost'],
    ['a success', '03:00', 'nothing', 'nothing'],
    ['a success', '06:00', 'nothing', 'nothing'],
    ['a success whose cleaning failed', '03:00', 'nothing', 'nothing'],
    ['a success and a second run that failed', '03:00', 'nothing', 'retry'],
    ['a success and a second run that failed', '06:00', 'nothing', 'nothing'],
    ['a success and a second run that was killed', '03:00', 'nothing', 'retry'],
    ['a success and a second run that was killed', '06:00', 'nothing', 'nothing'],
    ['a lost night', '06:30', 'nothing', 'nothing'],
    // The clock was put back into the window.
    ['a lost night', '03:00', 'nothing', 'retry'],
  ]
  for (const [state, time, scheduled, retry] of cases) {
    test(`after ${state}, at ${time}: scheduled ${scheduled}, retry ${retry}`, () => {
      const now = Date.parse(`2026-01-31T${time}:00+01:00`)
      assert.equal(dueForSchedule(STATES[state], now, BERLIN).action, scheduled)
      assert.equal(dueForRetry(STATES[state], now, BERLIN).action, retry)
    })
  }

  test('the next date begins anew, whatever was before', () => {
    const now = Date.parse('2026-02-01T02:00:00+01:00')
    for (const state of Object.values(STATES)) {
      assert.equal(dueForSchedule(state, now, BERLIN).action, 'run')
      assert.equal(dueForRetry(state, now, BERLIN).action, 'nothing')
    }
  })

  test('a date that has succeeded stays so when the clock jumps to another date and back', () => {
    const both = {
      ...STATES['a success'],
      nights: [...STATES['a success'].nights, { date: '2026-02-05', failures: 0 }],
    }
    assert.equal(dueForSchedule(both, Date.parse('2026-01-31T02:00:00+01:00'), BERLIN).action, 'nothing')
  })
})

describe('a night in which clocks change has one run', () => {
  const zones = [
    ['Europe/Berlin', '2026-03-29', '2026-10-25'],
    ['America/New_York', '2026-03-08', '2026-11-01'],
    ['Australia/Lord_Howe', '2026-10-04', '2026-04-05'],
    ['America/Havana', '2026-03-08', '2026-11-01'],
    ['Asia/Shanghai', '2026-03-29', '2026-10-25'],
  ] as const
  for (const [timeZone, ...dates] of zones) {
    for (const date of dates) {
      test(`${timeZone}, ${date}`, () => {
        const schedule = { ...BERLIN, timeZone }
        const start = Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds
        let state: BackupState = EMPTY_STATE
        let runs = 0
        // The timer is called every 10 minutes, more often than any timer does.
        for (let now = start; now < start + 23 * HOUR; now += 10 * MINUTE) {
          if (dueForSchedule(state, now, schedule).action !== 'run') continue
          runs += 1
          state = { ...state, nights: [{ date, failures: 0, succeededAt: now }] }
        }
        assert.equal(runs, 1)
      })
    }
  }
})

describe('the retry loop', () => {
  const state = STATES['a failed run']
  const at = (time: string) => dueForRetryLoop(state, Date.parse(`2026-01-31T${time}:00+01:00`), BERLIN)

  test('waits for half an hour after the failure, at most a minute at once', () => {
    assert.deepEqual(at('02:11'), { action: 'wait', milliseconds: MINUTE })
    assert.equal(at('02:40').action, 'retry')
    assert.equal(at('06:00').action, 'lost')
  })

  test('does not wait longer when the clock was put back', () => {
    assert.equal(at('02:05').action, 'retry')
  })
})

describe('a backup id', () => {
  test('is the local time of the start', () => {
    assert.equal(newBackupId(Date.parse('2026-01-31T01:02:03.999Z'), 'Europe/Berlin', []), '20260131-020203')
  })

  test('is never given twice, also in an hour that clocks repeat', () => {
    const first = newBackupId(Date.parse('2026-10-25T00:30:00Z'), 'Europe/Berlin', [])
    const second = newBackupId(Date.parse('2026-10-25T01:30:00Z'), 'Europe/Berlin', [first])
    assert.deepEqual([first, second], ['20261025-023000', '20261025-023001'])
  })
})
