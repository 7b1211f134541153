import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HOUR, MINUTE } from '../../../kernel/time.ts'
import { dampen, UNDAMPED, type Damping } from './damping.ts'
import { judgeEpisode, withStart } from './episodes.ts'
import { explainReport } from './explain.ts'
import {
  defaultRoute,
  directTargets,
  openingTime,
  type AlertRoute,
  type Hours,
  type Routing,
} from './routing.ts'
import type { AlertWeight } from '../model.ts'

const ALERT = {
  source: 'platform.backup',
  alarmId: 'backup.failed',
  serverAddr: null,
  title: 'Failed',
  weight: 4,
} as const
const NAMES = ['chat', 'mail', 'pager']

function route(name: string, receivers: readonly string[], others: Partial<AlertRoute> = {}): AlertRoute {
  return { name, matchers: {}, minWeight: 0, receivers, escalate: [], continue: false, ...others }
}

const routing = (...routes: AlertRoute[]): Routing => ({
  receivers: NAMES,
  routes: [...routes, defaultRoute(['mail'], 3)],
  isDamping: true,
})

const CASES: readonly [
  what: string,
  routes: readonly AlertRoute[],
  notified: readonly string[],
  alarmId?: string,
][] = [
  ['without a route the default', [], ['mail']],
  [
    'the first that matches',
    [route('a', ['chat'], { matchers: { source: 'platform.*' } }), route('b', ['pager'])],
    ['chat'],
  ],
  ['none that does not match', [route('a', ['chat'], { matchers: { source: 'shop' } })], ['mail']],
  [
    'only one whose matchers all match',
    [route('a', ['chat'], { matchers: { source: 'platform.*', title: 'x' } })],
    ['mail'],
  ],
  ['also the next of one that continues', [route('a', ['chat'], { continue: true })], ['chat', 'mail']],
  ['a receiver once', [route('a', ['mail', 'chat'], { continue: true })], ['mail', 'chat']],
  [
    'of a failing receiver: the others of its route',
    [route('a', ['chat', 'pager'])],
    ['pager'],
    'receiver.failing:chat',
  ],
  [
    'of a failing receiver that is alone: the default',
    [route('a', ['chat'])],
    ['mail'],
    'receiver.failing:chat',
  ],
  ['of the failing default: all others', [], ['chat', 'pager'], 'receiver.failing:mail'],
]

for (const [what, routes, notified, alarmId = ALERT.alarmId] of CASES)
  test(`an alert goes to ${what}`, () => {
    const targets = directTargets({ ...ALERT, alarmId }, routing(...routes))
    assert.deepEqual(
      targets.map(({ receiver }) => receiver),
      notified,
    )
  })

test('a receiver of two routes is told by the one that tells of such a severity', () => {
  const routes = routing(route('critical', ['mail'], { minWeight: 6, continue: true }))
  assert.deepEqual(
    directTargets(ALERT, routes).map((each) => each.route.name),
    ['default'],
  )
})

const OFFICE: Hours = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '08:00',
  to: '20:00',
  timeZone: 'Europe/Berlin',
  critical: false,
}
const NIGHT: Hours = { ...OFFICE, from: '22:00', to: '06:00' }
const at = (text: string) => Date.parse(text)

for (const [what, hours, now, opens] of [
  ['open', OFFICE, '2026-11-27T12:00:00+01:00', '2026-11-27T12:00:00+01:00'],
  ['before they begin', OFFICE, '2026-11-27T07:59:00+01:00', '2026-11-27T08:00:00+01:00'],
  ['at their end', OFFICE, '2026-11-26T20:00:00+01:00', '2026-11-27T08:00:00+01:00'],
  ['on a day without hours', OFFICE, '2026-11-28T12:00:00+01:00', '2026-11-30T08:00:00+01:00'],
  [
    'after midnight of the day of their beginning',
    NIGHT,
    '2026-11-28T05:59:00+01:00',
    '2026-11-28T05:59:00+01:00',
  ],
  ['after midnight of a day that has none', NIGHT, '2026-11-30T05:59:00+01:00', '2026-11-30T22:00:00+01:00'],
  [
    'until the end of the day',
    { ...OFFICE, from: '00:00', to: '24:00' },
    '2026-11-27T23:59:00+01:00',
    '2026-11-27T23:59:00+01:00',
  ],
  ['by the local time of the summer', OFFICE, '2026-03-30T07:59:00+02:00', '2026-03-30T08:00:00+02:00'],
  [
    'at a beginning that the clocks skip',
    { ...OFFICE, days: ['sun'], from: '02:30' },
    '2026-03-29T01:30:00+01:00',
    '2026-03-29T03:00:00+02:00',
  ],
  [
    'before an end that comes twice',
    { ...OFFICE, days: ['sun'], from: '01:00', to: '02:30' },
    '2026-10-25T02:15:00+01:00',
    '2026-10-25T02:15:00+01:00',
  ],
] as const)
  test(`hours ${what}`, () => {
    assert.equal(new Date(openingTime(hours, at(now))).toISOString(), new Date(at(opens)).toISOString())
  })

test('an escalation and a repetition are due at their times, once each, whatever the clock does', () => {
  const followed = route('a', ['chat'], {
    repeatEveryMs: HOUR,
    escalate: [
      { afterMs: 15 * MINUTE, receivers: ['mail'] },
      { afterMs: 30 * MINUTE, receivers: ['pager'] },
    ],
  })
  const first = withStart(undefined, { alertId: 'a', route: followed, startedAt: 0, now: 0 })
  const judge = (episode: typeof first, now: number, isSuppressed = false) =>
    judgeEpisode(episode, followed, now, isSuppressed, 4)
  assert.deepEqual(judge(first, 14 * MINUTE).escalated, [])
  const mail = judge(first, 15 * MINUTE)
  assert.deepEqual([mail.escalated, mail.episode.dueAt], [['mail'], 30 * MINUTE])
  assert.deepEqual(judge(first, 40 * MINUTE).escalated, ['mail', 'pager'])
  assert.deepEqual(judge(first, -24 * HOUR).escalated, ['mail'], 'a clock that was set back')
  const held = judge(first, 15 * MINUTE, true)
  assert.deepEqual([held.escalated, held.episode.dueAt], [[], 16 * MINUTE])
  const pager = judge(mail.episode, 30 * MINUTE)
  assert.deepEqual([pager.escalated, pager.episode.escalateAt], [['pager'], null])
  const again = judge(pager.episode, HOUR)
  assert.deepEqual([again.isRepeated, again.episode.dueAt], [true, 2 * HOUR])
  const later = { alertId: 'a', route: followed, startedAt: HOUR, now: HOUR }
  assert.equal(withStart(again.episode, later), again.episode)
})

const UNSUPPRESSED = { silencedBy: undefined, inhibitedBy: undefined }

test('a report goes where its route says, and nothing is due of what is not told', () => {
  const escalate = [{ afterMs: MINUTE, receivers: ['pager'] }]
  const routes = routing(route('a', ['chat'], { minWeight: 4, escalate }))
  assert.deepEqual(explainReport(ALERT, routes, 0, UNSUPPRESSED), {
    matched: ['a'],
    receivers: [
      { name: 'chat', at: 0, because: 'route' },
      { name: 'pager', at: MINUTE, because: 'escalation' },
    ],
  })
  assert.deepEqual(explainReport({ ...ALERT, weight: 3 }, routes, 0, UNSUPPRESSED).receivers, [
    { name: 'chat', at: null, because: 'below_level' },
  ])
  const silencedBy = { id: 's', reason: 'Maintenance' }
  const inhibitedBy = { id: 'a', alarmId: 'backup.failed.critical' }
  for (const [weight, suppression, because] of [
    [4, { silencedBy }, 'silenced'],
    [4, { inhibitedBy }, 'inhibited'],
    [4, { silencedBy, inhibitedBy }, 'inhibited'],
    [3, { silencedBy }, 'below_level'],
  ] as const)
    assert.deepEqual(
      explainReport({ ...ALERT, weight }, routes, 0, { ...UNSUPPRESSED, ...suppression }).receivers,
      [{ name: 'chat', at: null, because }],
      because,
    )
})

test('no more than seven tellings within an hour, and each quiet ends with one digest', () => {
  const step = fc.record({
    pauseMs: fc.integer({ min: 0, max: 40 * MINUTE }),
    kind: fc.constantFrom('raised', 'risen', 'recovered', 'silence_ended'),
    weight: fc.constantFrom<AlertWeight>(3, 4),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let damping: Damping = UNDAMPED
      let now = 0
      const notified: number[] = []
      for (const { pauseMs, kind, weight } of steps) {
        now += pauseMs
        if (damping.dueAt !== null && damping.dueAt <= now) damping = UNDAMPED
        const result = dampen(damping, kind, weight, now, true)
        assert.equal(result.step === 'hold', damping.quietSince !== null)
        damping = result.damping
        if (result.step !== 'hold') notified.push(now)
        assert.equal(damping.quietSince === null, damping.dueAt === null)
      }
      const isQuietAfter = (from: number) =>
        notified.filter((each) => each >= from && each < from + 30 * MINUTE).length
      for (const from of notified) assert.ok(isQuietAfter(from) <= 7)
    }),
  )
})
