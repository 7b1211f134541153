import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import {
  changeOf,
  countOrders,
  countsBefore,
  countSteps,
  firstStep,
  seriesOf,
  stepOf,
  type CountedChange,
  type OrderSubjects,
} from './model.ts'
import { nightOf } from './parts.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const SUBJECTS: OrderSubjects = {
  'order.created': 'pending',
  'order.paid': 'paid',
  'order.shipped': 'shipped',
  'order.completed': 'completed',
  'order.timeout': 'expired',
}
const NOTHING = { pending: 0, paid: 0, shipped: 0, completed: 0, expired: 0 }

function eventOn(subject: string, shippedAt: string | null = null) {
  const event = { time: '2026-01-31T12:00:00.000Z', data: { shipped_at: shippedAt } }
  return { place: 1, subject, payload: JSON.stringify(event) }
}

for (const [subject, shippedAt, change, from, to] of [
  ['order.created', null, 'created', null, 'pending'],
  ['order.paid', null, 'paid', 'pending', 'paid'],
  ['order.shipped', '2026-01-31T11:00:00.000Z', 'shipped', 'paid', 'shipped'],
  ['order.completed', null, 'completed', 'paid', 'completed'],
  ['order.completed', '2026-01-31T11:00:00.000Z', 'completed', 'shipped', 'completed'],
  ['order.timeout', null, 'expired', 'pending', 'expired'],
] as const) {
  test(`${subject} with shipped_at ${shippedAt} is a change from ${from} to ${to}`, () => {
    assert.deepEqual(changeOf(SUBJECTS, eventOn(subject, shippedAt)), { change, from, to, at: NOON })
  })
}

test('an event of another domain is no change of an order', () => {
  assert.equal(changeOf(SUBJECTS, { place: 1, subject: 'alert.fired', payload: 'not read' }), undefined)
})

const created: CountedChange = { change: 'created', from: null, to: 'pending', at: NOON }
const paid: CountedChange = { change: 'paid', from: 'pending', to: 'paid', at: NOON + 6 * MINUTE }

test('an order counts in one status at a time', () => {
  assert.deepEqual(countOrders(NOTHING, [created, created, paid]), { ...NOTHING, pending: 1, paid: 1 })
})

test('the counts before some changes are those to which the changes are added', () => {
  const before = { ...NOTHING, pending: 2, completed: 1 }
  const changes = [created, paid, paid]
  assert.deepEqual(countsBefore(countOrders(before, changes), changes), before)
})

test('a change belongs to the step in which it happened', () => {
  const changes = { created: 0, paid: 0, shipped: 0, completed: 0, expired: 0 }
  assert.deepEqual(
    [...countSteps([created, paid, created])],
    [
      [NOON, { ...changes, created: 2 }],
      [NOON + 5 * MINUTE, { ...changes, paid: 1 }],
    ],
  )
})

test('an hour has twelve steps, and the last one is in progress', () => {
  const now = NOON + 7 * MINUTE
  const steps = seriesOf({ from: firstStep(now, 1), to: stepOf(now) }, [], [created])
  assert.equal(steps.length, 12)
  assert.deepEqual([steps[0]?.at, steps[11]?.at], [NOON + 10 * MINUTE - HOUR, NOON + 5 * MINUTE])
  assert.deepEqual([steps[10]?.created, steps[10]?.paid, steps[10]?.firingAlerts], [1, 0, null])
  assert.deepEqual([steps[11]?.created, steps[11]?.firingAlerts], [null, null])
})

const at = (lastAt: number, isFiring = false) => ({ id: `alert-${lastAt}`, lastAt, isFiring })

for (const [what, alerts, status, alertId = null] of [
  ['a backup that has begun is running', { started: at(2), succeeded: at(1) }, 'running'],
  ['a verified backup has succeeded', { started: at(1), succeeded: at(2) }, 'succeeded'],
  ['a failure that fires has failed', { started: at(1), failed: at(2, true) }, 'failed', 'alert-2'],
  ['a closed failure has succeeded', { started: at(1), succeeded: at(3), failed: at(3) }, 'succeeded'],
  ['the end of the window is a lost night', { failed: at(2, true), lost: at(3, true) }, 'lost', 'alert-3'],
] as const) {
  test(`the last night: ${what}`, () => {
    const night = nightOf(alerts)
    assert.deepEqual([night?.status, night?.alertId], [status, alertId])
  })
}

test('there is no last night before the first report', () => {
  assert.equal(nightOf({}), null)
})
