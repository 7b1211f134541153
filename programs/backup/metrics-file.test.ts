import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { FULL_NIGHT_NUMBERS } from '../../test/support/night-numbers.ts'
import { metricsText, writeMetricsFile, type NightNumbers } from './metrics-file.ts'

const NOTHING: NightNumbers = {
  server: 'standby',
  lastSuccessAt: undefined,
  lastStartAt: undefined,
  sizeBytes: undefined,
  stepDurationsMs: {},
  failures: 0,
  errorCode: undefined,
  freedBytes: {},
  nextRunAt: undefined,
  drill: undefined,
}

test('each number of a night is a gauge', () => {
  const lines = metricsText(FULL_NIGHT_NUMBERS).split('\n')
  for (const line of [
    'platform_backup_last_success_timestamp_seconds{server="primary"} 1769821500',
    'platform_backup_last_start_timestamp_seconds{server="primary"} 1769821200',
    'platform_backup_size_bytes{server="primary"} 1048576',
    'platform_backup_step_duration_seconds{server="primary",step="packaged"} 1.5',
    'platform_backup_step_duration_seconds{server="primary",step="uploaded"} 20',
    'platform_backup_failures{server="primary"} 2',
    'platform_backup_error{server="primary",error_code="drive_unreachable"} 1',
    'platform_backup_error{server="primary",error_code="no_space"} 0',
    'platform_backup_freed_bytes{server="primary",step="packages"} 4096',
    'platform_backup_next_run_timestamp_seconds{server="primary"} 1769907600',
    'platform_backup_drill_timestamp_seconds{server="primary"} 1767247200',
    'platform_backup_drill_passed{server="primary"} 1',
    'platform_backup_drill_last_pass_timestamp_seconds{server="primary"} 1767247200',
    'platform_backup_drill_rto_seconds{server="primary"} 12.5',
    'platform_backup_drill_rpo_seconds{server="primary"} 18000',
  ])
    assert.ok(lines.includes(line), line)
})

test('a number that is not known has no series', () => {
  const names = [...metricsText(NOTHING).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(names, ['platform_backup_failures', 'platform_backup_error'])
})

test('promtool accepts the text', () => {
  for (const numbers of [FULL_NIGHT_NUMBERS, NOTHING]) {
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: metricsText(numbers),
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
  }
})

test('the file is replaced as a whole, and every user may read it', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'platform_backup.prom')
  assert.equal(writeMetricsFile(path, NOTHING), undefined)
  assert.equal(writeMetricsFile(path, FULL_NIGHT_NUMBERS), undefined)
  assert.equal(readFileSync(path, 'utf8'), metricsText(FULL_NIGHT_NUMBERS))
  assert.equal(statSync(path).mode & 0o777, 0o644)
  assert.deepEqual(readdirSync(directory.path), ['platform_backup.prom'])
})

test('a file that cannot be written is a reason, not an error', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'missing/platform_backup.prom')
  assert.match(
    writeMetricsFile(path, FULL_NIGHT_NUMBERS) ?? '',
    /^\/.*the metrics could not be written \(ENOENT/,
  )
})
