import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { rowsOf, startGroupedApi } from '../support/grouped-api.ts'
import { chanceOf, type Chance } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'
import { testStores } from '../support/store.ts'

const [ORDERS, ALARMS, AGENTS] = [
  ['o-1', 'o-2', 'o-3', 'o-4', 'o-5'],
  ['disk', 'disk.critical', 'fan'],
  ['a-1', 'a-2'],
]
const EXPECTED = new Set([200, 201, 202, 404, 409])

type Call = readonly [method: string, path: string, body: object, headers?: Record<string, string>]

const CALLS: readonly ((chance: Chance) => Call)[] = [
  (chance) => {
    const order_id = chance.pick(ORDERS)
    const key = `key ${chance.between(1, 8)} of ${order_id}`
    return ['POST', '/orders', { order_id, platform: 'live', amount_cents: 1 }, { 'idempotency-key': key }]
  },
  (chance) => {
    const status = chance.pick(['paid', 'shipped', 'completed'])
    return ['PUT', `/orders/${chance.pick(ORDERS)}`, { status }]
  },
  (chance) => {
    const [alarm_id, level] = [chance.pick(ALARMS), chance.pick(['ERROR', 'CRITICAL', 'CLOSE'])]
    return ['POST', '/alerts/report', { alarm_id, source: 's', title: 't', level }]
  },
  (chance) => ['POST', '/api/v1/telemetry', { agent_id: chance.pick(AGENTS), data: {} }],
]

test('orders, alerts and telemetry of two processes stay consistent while their writes share transactions', async (t) => {
  const scope = scopeOf(t)
  const chance = chanceOf(t)
  const { store, otherStore } = scope.use(await testStores('postgres', systemClock))
  const apis = [scope.use(await startGroupedApi(store)), scope.use(await startGroupedApi(otherStore))]
  const accepted: Record<string, number> = {}
  for (let burst = 0; burst < 4; burst++) {
    const calls = Array.from({ length: 40 }, () => chance.pick(CALLS)(chance))
    const sent = calls.map(([method, path, body, headers = {}]) =>
      chance.pick(apis).send(method, path, { body, headers }),
    )
    for (const [index, { status }] of (await Promise.all(sent)).entries()) {
      const [, path, body] = calls[index] as Call
      assert.ok(EXPECTED.has(status), `${status} for ${path}`)
      const name = Object.values(body)[0] as string
      if (status < 300 && path !== '/orders') accepted[name] = (accepted[name] ?? 0) + 1
    }
  }

  const changes = await rowsOf<{ id: string; statuses: string[] }>(
    store,
    `select o.order_id as id, 'pending' || coalesce(string_agg(' ' || to_status, '' order by h.version), '') as statuses
     from orders o left join order_history h using (order_id) group by o.order_id order by o.order_id`,
  )
  const events = await rowsOf<{ id: string; statuses: string[] }>(
    store,
    `select payload::json->>'subject' as id, string_agg(payload::json->'data'->>'status', ' ' order by seq) as statuses
     from messages where subject like 'order.%' group by 1 order by 1`,
  )
  assert.deepEqual(events, changes, 'the events of an order have the order of its changes')
  const counted = await rowsOf<{ name: string; count: number }>(
    store,
    `select alarm_id as name, reports as count from alerts
     union all select agent_id, items from telemetry_agents`,
  )
  for (const { name, count } of counted) assert.equal(count, accepted[name], name)
  const places = await rowsOf<{ place: number }>(
    store,
    'select after_message as place from telemetry_uploads order by seq',
  )
  const numbers = places.map(({ place }) => place)
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  )
})

test('orders that are created together share transactions', async (t) => {
  const scope = scopeOf(t)
  const { store } = scope.use(await testStores('postgres', systemClock))
  const api = scope.use(await startGroupedApi(store))
  const creations = Array.from({ length: 40 }, (_, index) =>
    api.send('POST', '/orders', { body: { order_id: `o-${index}`, platform: 'live', amount_cents: 1 } }),
  )
  for (const { status } of await Promise.all(creations)) assert.equal(status, 201)
  const [row] = await rowsOf<{ transactions: number }>(
    store,
    'select count(distinct xmin::text) as transactions from orders',
  )
  assert.ok(Number(row?.transactions) <= 20, `${row?.transactions} transactions`)
})
