import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nightNumbers } from './night-numbers.ts'
import { EMPTY_STATE, type BackupState } from './night/state.ts'

const NOW = Date.UTC(2026, 0, 31, 12)
const OPTIONS = {
  server: 'primary',
  schedule: { timeZone: 'UTC', windowStart: '02:00', windowEnd: '06:00', retryEveryMs: 1_800_000 },
  now: NOW,
} as const

const FAILED: BackupState = {
  ...EMPTY_STATE,
  run: {
    backupId: '20260131-020000',
    date: '2026-01-31',
    startedAt: NOW - 36_000_000,
    status: 'failed',
    reached: 'packaged',
    job: 'upload',
    durations: { package: 1_500 },
    failure: { errorCode: 'drive_unreachable', message: 'No answer.', job: 'upload', at: NOW },
  },
  nights: [
    { date: '2026-01-28', failures: 4 },
    { date: '2026-01-29', failures: 1, succeededAt: 1 },
    { date: '2026-01-30', failures: 2, lostAt: 2 },
    { date: '2026-01-31', failures: 3 },
  ],
  lastSuccess: { backupId: '20260129-020000', at: 1, size: 42, sha256: 'f', path: 'p' },
  freedBytes: { tmp: 7 },
  drill: { backupId: '20260129-020000', endedAt: 5, passed: false, rtoSeconds: 6, rpoSeconds: 8 },
  lastPassedDrillAt: 4,
}

test('before the first run, only the next one is known', () => {
  const known = Object.entries(nightNumbers(EMPTY_STATE, OPTIONS)).filter(([, value]) => value !== undefined)
  assert.deepEqual(Object.fromEntries(known), {
    server: 'primary',
    stepDurationsMs: {},
    failures: 0,
    freedBytes: {},
    nextRunAt: Date.UTC(2026, 1, 1, 2),
  })
})

test('failures are counted since the last success, over several nights', () => {
  assert.equal(nightNumbers(FAILED, OPTIONS).failures, 5)
})

test('the error code is that of the last run, and gone when a later one succeeds', () => {
  assert.equal(nightNumbers(FAILED, OPTIONS).errorCode, 'drive_unreachable')
  const { run } = FAILED
  assert.ok(run)
  assert.equal(nightNumbers({ ...FAILED, run: { ...run, status: 'done' } }, OPTIONS).errorCode, undefined)
})

test('a failed drill keeps the time of the last one that passed', () => {
  const { drill } = nightNumbers(FAILED, OPTIONS)
  assert.deepEqual([drill?.endedAt, drill?.passed, drill?.lastPassAt], [5, false, 4])
})
