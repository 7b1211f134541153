import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/kernel/clock.ts'
import { eventually } from '../support/eventually.ts'
import { rowsOf, startGroupedApi } from '../support/grouped-api.ts'
import type { RouteServer } from '../support/route-server.ts'
import { scopeOf } from '../support/scope.ts'
import { testStores } from '../support/store.ts'

// docs/reliability.md, Groups of writes on PostgreSQL
const KILLS = Number(process.env['KILLS'] ?? 100)
const CLIENTS = 24

/** A backend that has written and not committed yet. */
const KILL_WRITER = sql<{ killed: boolean }>`
  select pg_terminate_backend(pid) as killed from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_xid is not null
  order by random() limit 1`

test(`${KILLS} connections that are killed in shared transactions lose no acknowledged change and repeat none`, async (t) => {
  const scope = scopeOf(t)
  const { store, otherStore } = scope.use(await testStores('postgres', systemClock))
  const api = scope.use(await startGroupedApi(store))
  const over = new AbortController()
  const paid: string[] = []
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    payOrders(api, `c-${index}`, paid, over.signal),
  )
  let kills = 0
  for (let paidBefore = -1; kills < KILLS;) {
    // Between two kills something succeeds.
    await eventually('a paid order', () => paid.length > paidBefore)
    paidBefore = paid.length
    kills += (await KILL_WRITER.execute(otherStore.read.db)).rows.filter(({ killed }) => killed).length
  }
  over.abort()
  await Promise.all(clients)

  const orders = await rowsOf<{ id: string; changes: number; events: string }>(
    otherStore,
    `with events as
       (select payload::json->>'subject' as id, string_agg(subject, ' ' order by seq) as events from messages group by 1),
     changes as (select order_id as id, count(*)::int as changes from order_history group by 1)
     select id, changes, events from orders join changes on id = order_id join events using (id) where status = 'paid'`,
  )
  const stored = new Map(orders.map((order) => [order.id, order]))
  for (const id of paid) {
    assert.deepEqual(stored.get(id), { id, changes: 1, events: 'order.created order.paid' })
    stored.delete(id)
  }
  assert.deepEqual([...stored.keys()], [], 'every paid order was acknowledged')
  t.diagnostic(`${kills} kills, ${paid.length} orders created and paid`)
})

/** Creates orders and pays them, one after the other. Adds those whose payment is acknowledged to `paid`. */
async function payOrders(
  api: RouteServer,
  client: string,
  paid: string[],
  signal: AbortSignal,
): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const id = `${client}-${number}`
    await sendUntilDone(
      api,
      'POST',
      '/orders',
      { order_id: id, platform: 'live', amount_cents: 1 },
      `new ${id}`,
    )
    await sendUntilDone(api, 'PUT', `/orders/${id}`, { status: 'paid' }, `pay ${id}`)
    paid.push(id)
  }
}

/** A 5xx leaves open whether the change was made; the key makes the repetition safe. */
async function sendUntilDone(
  api: RouteServer,
  method: string,
  path: string,
  body: object,
  key: string,
): Promise<void> {
  for (;;) {
    const answer = await api.send(method, path, { body, headers: { 'idempotency-key': key } })
    if (answer.ok) return void (await answer.arrayBuffer())
    assert.ok(answer.status >= 500, `${answer.status} ${await answer.text()}`)
  }
}
