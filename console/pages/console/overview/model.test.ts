import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urgentParts, orderCourses, overviewOf, PART_TONES, periodOf } from './model.ts'

const FIRING = { CRITICAL: 0, HIGH: 0, ERROR: 0, WARNING: 0, INFO: 0 }
const ALERTS = { firing: FIRING, acknowledged: [], frozen: [], urgent: [], first: null, oldestAt: null }
const NOW = Date.parse('2026-01-31T02:00:00.000Z')
const LEVELS = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
const MESSAGES = { bus: 'ok', pending: 0, oldest_pending_at: null, dead: 0, oldest_dead_at: null } as const
const DRILL = { last_passed_at: null, due_at: null }

test('the state of a part is judged by what is the worst in it', () => {
  const { alerts, tickets, messages, drill, data_backups } = PART_TONES
  const firing = (counts: Partial<typeof FIRING>) => ({ ...ALERTS, firing: { ...FIRING, ...counts } })
  assert.equal(alerts(firing({ HIGH: 1, INFO: 4 }), NOW), 'danger')
  assert.equal(alerts(firing({ WARNING: 1, INFO: 4 }), NOW), 'warning')
  assert.equal(alerts(firing({ INFO: 4 }), NOW), 'active')
  assert.equal(alerts(ALERTS, NOW), 'good')
  assert.equal(alerts({ ...ALERTS, acknowledged: [{ severity: 'CRITICAL' }] }, NOW), 'active')
  assert.equal(alerts({ ...ALERTS, frozen: [{}] }, NOW), 'warning')
  assert.equal(tickets({ ...LEVELS, high: 1, low: 2 }, NOW), 'warning')
  assert.equal(tickets({ ...LEVELS, low: 2 }, NOW), 'active')
  assert.equal(messages({ ...MESSAGES, pending: 2 }, NOW), 'active')
  assert.equal(messages({ ...MESSAGES, pending: 2, bus: 'offline' }, NOW), 'warning')
  assert.equal(messages({ ...MESSAGES, bus: 'offline' }, NOW), 'good')
  assert.equal(messages({ ...MESSAGES, pending: 2, dead: 1 }, NOW), 'danger')
  assert.equal(drill({ ...DRILL, status: null }, NOW), 'quiet')
  assert.equal(drill({ ...DRILL, status: 'missed' }, NOW), 'danger')
  assert.equal(data_backups({ last: null, backup_every_seconds: null }, NOW), 'quiet')
})

/** A completed backup that is so many hours old. */
function backup(hours: number, every: number | null) {
  const finished_at = new Date(NOW - hours * 3_600_000).toISOString()
  const last = { id: 'a', status: 'completed', created_at: finished_at, finished_at } as const
  const rest = { size_bytes: 1, verified_at: finished_at, error: null }
  return { last: { ...last, ...rest }, backup_every_seconds: every }
}

test('a backup is to be checked when it is twice as old as the period, or two days without a period', () => {
  const { data_backups } = PART_TONES
  assert.equal(data_backups(backup(47, null), NOW), 'good')
  assert.equal(data_backups(backup(49, null), NOW), 'warning')
  assert.equal(data_backups(backup(11, 6 * 3_600), NOW), 'good')
  assert.equal(data_backups(backup(13, 6 * 3_600), NOW), 'warning')
})

test('the alert to look at first is the most urgent one that no silence covers', () => {
  const alert = { alarm_id: null, server_addr: null, title: 'slow' }
  const urgent = ['payments', 'web'].map((source) => ({ ...alert, source })) as never
  const silence = (source: string) => ({ matchers: { source }, ends_at: '2026-02-01T00:00:00.000Z' }) as never
  const firstOf = (silenced: readonly string[]) =>
    overviewOf({ alerts: FIRING } as never, 'ok', { ...ALERTS, urgent }, silenced.map(silence)).alerts?.first
      ?.source
  assert.equal(firstOf([]), 'payments')
  assert.equal(firstOf(['payments']), 'web')
  assert.equal(firstOf(['payments', 'w*']), undefined)
})

test('a problem is more urgent than what is to be checked; of several problems the first part counts', () => {
  const tones = { tickets: 'danger', messages: 'danger', alerts: 'warning', sessions: 'good' } as const
  assert.deepEqual(
    urgentParts((name) => tones[name as keyof typeof tones]),
    ['messages', 'tickets', 'alerts'],
  )
  assert.deepEqual(
    urgentParts(() => 'good'),
    [],
  )
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
