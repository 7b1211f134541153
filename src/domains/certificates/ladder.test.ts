import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateWorld } from '../../../test/support/certificate-world.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY, HOUR, toRfc3339 } from '../../kernel/time.ts'
import { dueStep, inspect, severityOfStep, type Inspected } from './ladder.ts'

const END = Date.UTC(2026, 6, 1)
const FRESH: Inspected = {
  endsAt: END,
  revokedAt: null,
  replacedBy: null,
  reportedStep: null,
  alertStep: null,
}

test('a step is due when no more than its days are left, to the millisecond', () => {
  const due = [60, 30, 14, 7, 3, 1, 0].map((step) => [
    dueStep(END, END - step * DAY - 1),
    dueStep(END, END - step * DAY),
  ])
  assert.deepEqual(due, [
    [undefined, 60],
    [60, 30],
    [30, 14],
    [14, 7],
    [7, 3],
    [3, 1],
    [1, 0],
  ])
  assert.equal(dueStep(END, END + 1_000 * DAY), 0)
})

const REPORTED_7 = { reportedStep: 7, alertStep: 7 } as const
const FINDINGS: readonly (readonly [
  what: string,
  Partial<Inspected>,
  daysLeft: number,
  expected: unknown,
])[] = [
  ['nothing before the first step', {}, 61, undefined],
  ['the most urgent step only, when the inspection is late', {}, 2, { kind: 'report', step: 3 }],
  ['no step twice', REPORTED_7, 5, undefined],
  ['the next step', REPORTED_7, 3, { kind: 'report', step: 3 }],
  ['no earlier step when the clock was set back', REPORTED_7, 20, undefined],
  ['nothing of a revoked one', { revokedAt: 1 }, 5, undefined],
  ['nothing of a replaced one', { replacedBy: 'b' }, 5, undefined],
  ['the recovery of a revoked one', { ...REPORTED_7, revokedAt: 1 }, 5, { kind: 'recover' }],
  ['the recovery of a replaced one', { ...REPORTED_7, replacedBy: 'b' }, 5, { kind: 'recover' }],
  [
    'the alert again, without a report, when it is not replaced any more',
    { reportedStep: 7 },
    5,
    { kind: 'raise', step: 7 },
  ],
  ['nothing a second time after the end', { reportedStep: 0, alertStep: 0 }, -30, undefined],
]

for (const [what, changes, daysLeft, expected] of FINDINGS) {
  test(`an inspection finds ${what}`, () => {
    assert.deepEqual(inspect({ ...FRESH, ...changes }, END - daysLeft * DAY), expected)
  })
}

// Two years, inspected each hour from 2026-01-31T02:00Z on. Written by hand from the rules of the specification.
const START = '2026-01-31T02:00:00.000Z'
const FLEET = {
  // Ends in spring, and is never replaced.
  forgotten: '2026-06-30T12:30:00Z',
  // Is replaced in time, on 2026-09-20.
  shop: '2026-10-01T00:00:00Z',
  // Its leaf is good until 2029, its intermediate ends first.
  chained: '2027-03-15T23:59:59Z',
  // Is revoked 10 days before its end.
  revoked: '2027-06-01T00:00:00Z',
  // Has two days left when it is registered.
  late: '2026-02-02T02:00:00Z',
} as const

const CALENDAR = `
2026-01-31T02:00:00.000Z late 3 HIGH
2026-02-01T02:00:00.000Z late 1 CRITICAL
2026-02-02T02:00:00.000Z late 0 CRITICAL
2026-05-01T13:00:00.000Z forgotten 60 INFO
2026-05-31T13:00:00.000Z forgotten 30 WARNING
2026-06-16T13:00:00.000Z forgotten 14 WARNING
2026-06-23T13:00:00.000Z forgotten 7 ERROR
2026-06-27T13:00:00.000Z forgotten 3 HIGH
2026-06-29T13:00:00.000Z forgotten 1 CRITICAL
2026-06-30T13:00:00.000Z forgotten 0 CRITICAL
2026-08-02T00:00:00.000Z shop 60 INFO
2026-09-01T00:00:00.000Z shop 30 WARNING
2026-09-17T00:00:00.000Z shop 14 WARNING
2026-09-20T00:00:00.000Z shop recovered
2027-01-15T00:00:00.000Z chained 60 INFO
2027-02-14T00:00:00.000Z chained 30 WARNING
2027-03-02T00:00:00.000Z chained 14 WARNING
2027-03-09T00:00:00.000Z chained 7 ERROR
2027-03-13T00:00:00.000Z chained 3 HIGH
2027-03-15T00:00:00.000Z chained 1 CRITICAL
2027-03-16T00:00:00.000Z chained 0 CRITICAL
2027-04-02T00:00:00.000Z revoked 60 INFO
2027-05-02T00:00:00.000Z revoked 30 WARNING
2027-05-18T00:00:00.000Z revoked 14 WARNING
2027-05-22T00:00:00.000Z revoked recovered
`.trim()

const LAST = Date.UTC(2028, 0, 31)
const REPLACED_AT = Date.UTC(2026, 8, 20)
const REVOKED_AT = Date.UTC(2027, 4, 22)

test('two years of hourly inspections find the steps of the calendar, and nothing else', () => {
  const seen: string[] = []
  const fleet = new Map<string, Inspected>(
    Object.entries(FLEET).map(([name, end]) => [name, { ...FRESH, endsAt: Date.parse(end) }]),
  )
  const change = (name: string, changes: Partial<Inspected>) =>
    fleet.set(name, { ...(fleet.get(name) ?? assert.fail(name)), ...changes })
  for (let now = Date.parse(START); now < LAST; now += HOUR) {
    if (now === REPLACED_AT) change('shop', { replacedBy: 'shop again' })
    if (now === REVOKED_AT) change('revoked', { revokedAt: now })
    for (const [name, certificate] of fleet) {
      const finding = inspect(certificate, now)
      if (!finding) continue
      if (finding.kind === 'recover') {
        change(name, { alertStep: null })
        seen.push(`${toRfc3339(now)} ${name} recovered`)
      } else {
        const { step } = finding
        change(name, { reportedStep: step, alertStep: step })
        seen.push(`${toRfc3339(now)} ${name} ${step} ${severityOfStep(step)}`)
      }
    }
  }
  assert.equal(seen.join('\n'), CALENDAR)
})

/** Each day, each moment of the calendar, and the hour before it. */
const MOMENTS = [
  ...Array.from({ length: (LAST - Date.parse(START)) / DAY }, (_, days) => Date.parse(START) + days * DAY),
  ...CALENDAR.split('\n').flatMap((line) => {
    const at = Date.parse(line.split(' ')[0] ?? '')
    return [at - HOUR, at]
  }),
]
  .filter((moment) => moment >= Date.parse(START))
  .toSorted((one, other) => one - other)

async function fleetWorld(dialect: 'sqlite' | 'postgres') {
  const w = await certificateWorld(dialect)
  const names = new Map<string, string>()
  const ids = new Map<string, string>()
  const register = async (name: string, notAfter: number, chain: readonly number[] = []) => {
    const wanted = { names: [`${name.split(' ')[0]}.example.com`], notAfter, chain }
    const { id, fingerprintSha256 } = await w.register(wanted, name)
    names.set(fingerprintSha256, name)
    ids.set(name, id)
  }
  for (const [name, end] of Object.entries(FLEET)) {
    const isChained = name === 'chained'
    await register(
      name,
      isChained ? Date.UTC(2029, 0, 1) : Date.parse(end),
      isChained ? [LAST, Date.parse(end)] : [],
    )
  }
  /** What was raised and reported since the last call, as lines of the calendar. */
  const collect = () => {
    const at = toRfc3339(w.clock.now())
    const steps = w.events.splice(0).flatMap(({ step }) => (step === undefined ? [] : [step]))
    const lines = w.alerts.splice(0).map(({ alarmId, severity }) => {
      const name = names.get(alarmId.replace('certificate.expiring:', ''))
      return severity === 'CLOSE' ? `${at} ${name} recovered` : `${at} ${name} ${steps.shift()} ${severity}`
    })
    assert.deepEqual(steps, [], 'an event without an alert')
    return lines
  }
  return { ...w, register, collect, idOf: (name: string) => ids.get(name) ?? assert.fail(name) }
}

onEveryDialect('two years of inspections', (dialect) => {
  test('raise the alerts and emit the events of the calendar, and nothing else', async () => {
    await using w = await fleetWorld(dialect)
    const seen: string[] = []
    for (const moment of MOMENTS) {
      w.clock.advance(moment - w.clock.now())
      if (moment === REPLACED_AT) await w.register('shop again', Date.UTC(2029, 5, 1))
      if (moment === REVOKED_AT) await w.certificates.revoke(w.idOf('revoked'), null, 'ada')
      await w.inspect()
      seen.push(...w.collect())
    }
    assert.equal(seen.join('\n'), CALENDAR)
  })
})
