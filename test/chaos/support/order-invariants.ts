import assert from 'node:assert/strict'
import { canHaveBecome, type OrderStep } from '../../support/order-clients.ts'
import type { Engine } from './engine.ts'

const EVENT_OF: Readonly<Record<string, string>> = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
}

/** The invariants after every fault: no acknowledged change is lost, and each order has its history, events and alerts. */
export async function requireOrders(
  engine: Engine,
  acknowledged: ReadonlyMap<string, OrderStep>,
): Promise<void> {
  await requireAcknowledged(engine, acknowledged)
  await requireEvents(engine)
  await requireAlerts(engine)
}

async function requireAcknowledged(
  { rows }: Engine,
  acknowledged: ReadonlyMap<string, OrderStep>,
): Promise<void> {
  const orders = await rows('select order_id, status from orders')
  const statuses = new Map(orders.map(({ order_id, status }) => [order_id, String(status)]))
  const lost = [...acknowledged].filter(([id, status]) => !canHaveBecome(statuses.get(id), status))
  assert.deepEqual(lost, [], 'acknowledged orders that are lost')
}

/** Every status change has one event, and every event one status change. */
async function requireEvents({ rows }: Engine): Promise<void> {
  const changes = await rows(
    `select order_id, 'pending' as status from orders union all select order_id, to_status from order_history`,
  )
  const events = await rows(`select subject, payload from messages where subject like 'order.%'`)
  assert.deepEqual(
    sorted(events.map(({ subject, payload }) => `${String(subject)} ${subjectIn(payload)}`)),
    sorted(changes.map(({ order_id, status }) => `${EVENT_OF[String(status)]} ${String(order_id)}`)),
  )
}

/** Every expiry has one alert. */
async function requireAlerts({ rows }: Engine): Promise<void> {
  const alerts = await rows(`select alarm_id from alerts where source = 'platform.orders'`)
  const expired = await rows(`select order_id from orders where status = 'expired'`)
  assert.deepEqual(
    sorted(alerts.map((alert) => alert['alarm_id'])),
    sorted(expired.map(({ order_id }) => `order.timeout:${String(order_id)}`)),
  )
}

function subjectIn(payload: unknown): string {
  return (JSON.parse(String(payload)) as { subject: string }).subject
}

function sorted(values: readonly unknown[]): string[] {
  return values.map(String).sort()
}
