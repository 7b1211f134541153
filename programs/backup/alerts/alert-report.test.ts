import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromReportBody } from '../../../src/domains/alerts/routes.ts'
import { alertReport, type ReportOrigin } from './alert-report.ts'
import { NIGHT_ALERTS, NIGHT_WEIGHTS, type NightEvent } from './events.ts'
import { ALERT_VARIABLES } from '../../../src/config/backup-templates.ts'

const ORIGIN: ReportOrigin = { source: 'platform.backup.primary', serverAddr: '192.0.2.10', templates: {} }

/** docs/specification.md, Alerts of a night */
const TABLE: Readonly<Record<NightEvent, string>> = {
  backup_started: 'backup.start INFO 2',
  backup_succeeded: 'backup.done INFO 2',
  backup_failed: 'backup.failed ERROR 4',
  backup_failed_again: 'backup.failed HIGH 5',
  retry_succeeded: 'backup.retry WARNING 3',
  failure_closed: 'backup.failed CLOSE 0',
  night_lost: 'backup.failed.critical CRITICAL 6',
  lost_night_closed: 'backup.failed.critical CLOSE 0',
  cleaning_started: 'backup.clean WARNING 3',
  cleaning_ended: 'backup.clean CLOSE 0',
  reboot_started: 'system.reboot.init HIGH 5',
  reboot_ended: 'system.reboot.init CLOSE 0',
  reboot_not_begun: 'system.reboot.init CLOSE 0',
  selfcheck_failed: 'system.selfcheck.failed CRITICAL 6',
  selfcheck_closed: 'system.selfcheck.failed CLOSE 0',
  reboot_blocked: 'system.reboot.blocked WARNING 3',
  reboot_allowed: 'system.reboot.blocked CLOSE 0',
}

for (const [event, row] of Object.entries(TABLE) as [NightEvent, string][]) {
  const [alarmId, level, weight] = row.split(' ')
  test(`${event} is ${row}`, () => {
    const report = alertReport({ event, variables: {} }, ORIGIN)
    assert.deepEqual(Object.keys(report), ['source', 'title', 'body', 'level', 'server_addr'])
    assert.equal(report.level, level)
    assert.equal(report.body.split('\n')[0], `weight=${weight} alarm_id=${alarmId}`)
  })
}

test('a failure names its code and job, a success its size, a recovery what the specification asks for', () => {
  const variables = Object.fromEntries(ALERT_VARIABLES.map((name) => [name, `<${name}>`]))
  const body = (event: NightEvent) => alertReport({ event, variables }, ORIGIN).body
  for (const event of ['backup_failed', 'backup_failed_again', 'night_lost'] as const)
    assert.match(body(event), /<job_name>.*<error_code>/)
  assert.match(body('backup_succeeded'), /<backup_size>/)
  for (const name of ['server_name', 'recovery_time', 'previous_level', 'recovery_reason'])
    assert.match(body('reboot_ended'), new RegExp(`<${name}>`))
})

test('a template replaces a text; the first line and the details stay', () => {
  const templates = { 'backup.clean': { title: 'Clean ${backup_id}', body: 'Mine\nweight=6' } }
  const report = alertReport(
    { event: 'cleaning_ended', variables: { backup_id: '1' }, details: ['packages freed 1 GiB', 'a\nb'] },
    { ...ORIGIN, templates },
  )
  assert.equal(report.title, 'Clean 1')
  assert.equal(report.body, 'weight=0 alarm_id=backup.clean\nMine\nweight=6\npackages freed 1 GiB\na b')
})

test('the platform reads weight and name of each alert from its body, whatever the values are', () => {
  const nasty = fc.constantFrom('${token}', '{password}', '$', 'weight=6', 'alarm_id=x', '\n', '\0', '\ud83d')
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2_000 }),
    fc.array(nasty).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(NIGHT_ALERTS) as NightEvent[])),
      fc.dictionary(fc.constantFrom(...ALERT_VARIABLES), value),
      fc.array(value, { maxLength: 40 }),
      (event, variables, details) => {
        const templates = {
          [NIGHT_ALERTS[event].alarmId]: { title: '$${backup_id}', body: '$${error_code}' },
        }
        for (const origin of [ORIGIN, { ...ORIGIN, templates }]) {
          const report = alertReport({ event, variables, details }, origin)
          const read = fromReportBody(report)
          assert.equal(read.alarmId, NIGHT_ALERTS[event].alarmId)
          assert.equal(read.weight, NIGHT_WEIGHTS[NIGHT_ALERTS[event].level])
          assert.ok(report.title.length > 0 && report.title.length <= 256)
          assert.ok(!report.title.includes('\n') && report.title.isWellFormed() && report.body.isWellFormed())
        }
      },
    ),
  )
})
