import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import { applyFirstReport, applyFurtherReport, applyTime } from '../transitions.ts'
import { alarmIdOf, sortedLabels } from './labels.ts'
import { isFault, parseAlert, parseNotified } from './parse.ts'
import { toReport } from './report.ts'

const NOW = Date.UTC(2026, 0, 31, 2)
const LABELS = { alertname: 'DiskFull', job: 'node', instance: '192.0.2.10:9100', severity: 'critical' }

function reportOf(given: object, parse = parseAlert) {
  const parsed = parse({ labels: LABELS, ...given }, '0')
  return isFault(parsed)
    ? assert.fail(parsed.fault.message)
    : toReport(parsed, { now: NOW, fireForMs: 5 * MINUTE })
}

test('an alert becomes a report', () => {
  const annotations = { summary: 'The disk is full', description: 'No space left on /.', runbook: 'x' }
  assert.deepEqual(
    reportOf({ annotations, startsAt: toRfc3339(NOW - 1), generatorURL: 'http://x', other: 1 }),
    {
      alarmId: 'prometheus:a76f3a4b9910189c',
      source: 'node',
      title: 'The disk is full',
      body: 'No space left on /.\n\nalertname="DiskFull"\ninstance="192.0.2.10:9100"\njob="node"\nseverity="critical"',
      labels: '{"alertname":"DiskFull","instance":"192.0.2.10:9100","job":"node","severity":"critical"}',
      serverAddr: '192.0.2.10:9100',
      level: 'CRITICAL',
      expiresAt: NOW + 5 * MINUTE,
      startsAt: NOW - 1,
      generatorUrl: 'http://x',
    },
  )
})

test('an origin that is no address of a page does not refuse its alert', () => {
  for (const generatorURL of [
    '',
    'no address',
    'javascript:alert(1)',
    `http://x/${'x'.repeat(2_048)}`,
    1,
    null,
  ])
    assert.equal(reportOf({ generatorURL }).generatorUrl, undefined)
})

test('labels of more than 4 KiB are not kept, and the alert is taken', () => {
  assert.equal(reportOf({ labels: { alertname: 'Large', text: 'x'.repeat(4_096) } }).labels, undefined)
  assert.equal(reportOf({ labels: { alertname: 'Large', empty: '' } }).labels, '{"alertname":"Large"}')
})

test('without labels and annotations for them, source, title, body and address have defaults', () => {
  const report = reportOf({ labels: { alertname: 'Watchdog' } })
  assert.deepEqual(
    [report.source, report.title, report.body, report.serverAddr, report.level],
    ['prometheus', 'Watchdog', 'alertname="Watchdog"', null, 'WARNING'],
  )
  assert.equal(reportOf({ labels: { a: 'b' }, annotations: { summary: '' } }).title, 'Alert without a name')
})

const LEVELS: readonly (readonly [severity: string, level: string])[] = [
  ['critical', 'CRITICAL'],
  ['Critical', 'CRITICAL'],
  ['high', 'HIGH'],
  ['page', 'HIGH'],
  ['error', 'ERROR'],
  ['warning', 'WARNING'],
  ['info', 'INFO'],
  ['none', 'INFO'],
  ['debug', 'INFO'],
  ['constructor', 'WARNING'],
  ['', 'WARNING'],
]

for (const [severity, level] of LEVELS) {
  test(`the severity ${JSON.stringify(severity)} is ${level}`, () => {
    assert.equal(reportOf({ labels: { ...LABELS, severity } }).level, level)
  })
}

const ENDS: readonly (readonly [
  what: string,
  given: object,
  level: string,
  expiresAt: number | undefined,
])[] = [
  ['no end', {}, 'CRITICAL', NOW + 5 * MINUTE],
  ['the zero time of Go', { endsAt: '0001-01-01T00:00:00Z' }, 'CRITICAL', NOW + 5 * MINUTE],
  ['an end in the future', { endsAt: '2026-01-31T03:01:00.123456789+01:00' }, 'CRITICAL', NOW + MINUTE + 123],
  ['an end now', { endsAt: toRfc3339(NOW) }, 'CLOSE', undefined],
  ['an end in the past', { endsAt: '2026-01-31T01:00:00Z' }, 'CLOSE', undefined],
]

for (const [what, given, level, expiresAt] of ENDS) {
  test(`an alert with ${what} is ${level === 'CLOSE' ? 'over' : 'firing until then'}`, () => {
    const report = reportOf(given)
    assert.deepEqual([report.level, report.expiresAt], [level, expiresAt])
  })
}

test('the status counts in what an Alertmanager sends, and is an unknown key in what Prometheus sends', () => {
  const given = { status: 'resolved', endsAt: toRfc3339(NOW + MINUTE) }
  assert.equal(reportOf(given, parseNotified).level, 'CLOSE')
  assert.equal(reportOf({ ...given, status: 'firing' }, parseNotified).level, 'CRITICAL')
  assert.equal(reportOf(given).level, 'CRITICAL')
})

test('texts are cut to the limits of an alert, and variables that stand for secrets are replaced', () => {
  const long = 'x'.repeat(100_000)
  const report = reportOf({
    labels: { job: long, instance: long, alertname: '${token}' },
    annotations: { description: 'with ${password}' },
  })
  const { source, serverAddr, title, body } = report
  assert.deepEqual([source.length, serverAddr?.length, title], [128, 256, '**redacted**'])
  assert.ok(body.startsWith('with **redacted**\n\nalertname="**redacted**"'))
  assert.ok(Buffer.byteLength(body) <= 16 * 1024)
  const chinese = reportOf({ annotations: { description: '备'.repeat(16 * 1024) } })
  assert.equal(chinese.body, '备'.repeat(5_461))
})

test('the identity is the SHA-256 of the labels with a value, in the bytewise order of their names', () => {
  const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.dictionary(names, fc.string({ unit: 'binary' }), { noNullPrototype: true }), (labels) => {
      const pairs = Object.entries(labels).filter(([, value]) => value !== '')
      const hex = ([name]: readonly [string, string]) => Buffer.from(name).toString('hex')
      pairs.sort((one, other) => (hex(one) < hex(other) ? -1 : 1))
      const expected = createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 16)
      assert.equal(alarmIdOf(sortedLabels(labels)), `prometheus:${expected}`)
      const shuffled = Object.fromEntries([...Object.entries(labels), ['', '']].reverse())
      assert.equal(alarmIdOf(sortedLabels(shuffled)), `prometheus:${expected}`)
    }),
  )
})

const FAULTS: readonly (readonly [what: string, given: unknown, path: string])[] = [
  ['that is no object', 'text', '3'],
  ['that is null', null, '3'],
  ['without labels', {}, '3.labels'],
  ['with a list of labels', { labels: [] }, '3.labels'],
  ['whose labels have no value', { labels: { a: '' } }, '3.labels'],
  ['with a label without a name', { labels: { a: 'b', '': 'c' } }, '3.labels'],
  ['with a label that is a number', { labels: { a: 'b', c: 1 } }, '3.labels.c'],
  ['with an annotation that is null', { labels: LABELS, annotations: { a: null } }, '3.annotations.a'],
  ['with a wrong start', { labels: LABELS, startsAt: 'now' }, '3.startsAt'],
  ['with a number as its end', { labels: LABELS, endsAt: 1 }, '3.endsAt'],
  [
    'that ends before it starts',
    { labels: LABELS, startsAt: toRfc3339(NOW), endsAt: toRfc3339(NOW - 1) },
    '3.endsAt',
  ],
]

for (const [what, given, path] of FAULTS) {
  test(`an alert ${what} is refused, and the field is named`, () => {
    const parsed = parseAlert(given, '3')
    assert.equal(isFault(parsed) && parsed.fault.path, path)
  })
}

test('an alert that is not sent again recovers at its end, or after 5 minutes; one that is sent again goes on', () => {
  for (const [given, end] of [
    [{ endsAt: toRfc3339(NOW + MINUTE) }, NOW + MINUTE],
    [{}, NOW + 5 * MINUTE],
  ] as const) {
    const cause = { at: NOW, actor: 'prometheus' }
    const { alert } = applyFirstReport(reportOf(given), 'id', cause)
    assert.deepEqual(applyTime(alert, end - 1), [])
    const [recovery] = applyTime(alert, end)
    assert.deepEqual([recovery?.change, recovery?.alert.status], ['recovered', 'recovered'])
    const again = { ...reportOf({}), expiresAt: end + MINUTE }
    const [repeated] = applyFurtherReport(alert, again, { ...cause, at: end - 1 })
    assert.deepEqual(applyTime(repeated?.alert ?? assert.fail(), end), [])
  }
})
