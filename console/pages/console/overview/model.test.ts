import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderCourses, PART_TONES, periodOf } from './model.ts'

const ALERTS = { CRITICAL: 0, HIGH: 0, ERROR: 0, WARNING: 0, INFO: 0 }
const LEVELS = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
const MESSAGES = { bus: 'ok', pending: 0, oldest_pending_at: null, dead: 0, oldest_dead_at: null } as const
const DRILL = { last_passed_at: null, due_at: null }

test('the state of a part is judged by what is the worst in it', () => {
  const { alerts, tickets, messages, drill, data_backups } = PART_TONES
  assert.equal(alerts({ ...ALERTS, HIGH: 1, INFO: 4 }), 'danger')
  assert.equal(alerts({ ...ALERTS, WARNING: 1, INFO: 4 }), 'warning')
  assert.equal(alerts({ ...ALERTS, INFO: 4 }), 'active')
  assert.equal(alerts(ALERTS), 'good')
  assert.equal(tickets({ ...LEVELS, high: 1, low: 2 }), 'warning')
  assert.equal(tickets({ ...LEVELS, low: 2 }), 'active')
  assert.equal(messages({ ...MESSAGES, pending: 2 }), 'active')
  assert.equal(messages({ ...MESSAGES, pending: 2, bus: 'offline' }), 'warning')
  assert.equal(messages({ ...MESSAGES, bus: 'offline' }), 'good')
  assert.equal(messages({ ...MESSAGES, pending: 2, dead: 1 }), 'danger')
  assert.equal(drill({ ...DRILL, status: null }), 'quiet')
  assert.equal(drill({ ...DRILL, status: 'missed' }), 'danger')
  assert.equal(data_backups({ last: null }), 'quiet')
})

const step = (created: number | null, paid: number | null) => ({
  at: '2026-01-31T02:00:00.000Z',
  created,
  paid,
  shipped: null,
  completed: null,
  expired: null,
  firing_alerts: null,
  open_sessions: null,
})

test('the course of a status has its number now, and how many orders entered it', () => {
  const orders = { pending: 5, paid: 1, shipped: 0, completed: 0, expired: 0 }
  const items = [step(3, 0), step(2, 1), step(null, null)]
  const series = { from: '', to: '', step_seconds: 300, items }
  const [pending, paid, shipped] = orderCourses(orders, series)
  assert.deepEqual(pending, { status: 'pending', now: 5, entered: 5, columns: [3, 2, null] })
  assert.deepEqual(paid, { status: 'paid', now: 1, entered: 1, columns: [0, 1, null] })
  assert.equal(shipped?.entered, null)
})

test('a period that the page does not have is a day', () => {
  assert.equal(periodOf('168'), '168')
  assert.equal(periodOf('5'), '24')
  assert.equal(periodOf(undefined), '24')
})
