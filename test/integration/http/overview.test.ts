import { settingsOf } from '../../../src/domains/heartbeats/model.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type KyselyPlugin } from 'kysely'
import { ROLES, type Identity, type Role } from '../../../src/kernel/identity.ts'
import type { Store } from '../../../src/store/store.ts'
import { overviewOn, overviewWorld } from '../../support/overview.ts'
import { startRouteServer } from '../../support/route-server.ts'
import { onEveryDialect } from '../../support/store.ts'

const ALERT = {
  alarmId: 'disk',
  source: 'host',
  title: 'Disk full',
  body: 'b',
  serverAddr: null,
  level: 'CRITICAL',
} as const
const HEARTBEAT = settingsOf({ everySeconds: 30, source: 'shop' })

/** What each role sees: a part is null without a role of its list. */
const HIDDEN: Readonly<Record<Role, readonly string[]>> = {
  admin: [],
  devops: [],
  service: ['sessions', 'pool', 'certificates', 'data_backups'],
  auditor: ['orders', 'data_backups'],
}

async function openOverview(dialect: Parameters<typeof overviewWorld>[0]) {
  await using opening = new AsyncDisposableStack()
  const world = opening.use(await overviewWorld(dialect))
  const server = opening.use(await startRouteServer(world))
  const opened = opening.move()
  const get = async (path: string, role: Role = 'admin') => {
    const response = await server.send('GET', path, { role })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  return { ...world, get, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

onEveryDialect('the overview', (dialect) => {
  test('has what happened in each domain', async () => {
    await using w = await openOverview(dialect)
    const { alerts, heartbeats, tickets, messages } = w.domains
    await w.order('o-1', 'paid')
    await w.store.write(async (tx) => {
      await alerts.service.report(tx, ALERT, 'anna')
      await alerts.service.report(tx, { ...ALERT, alarmId: 'backup.start', level: 'INFO' }, 'anna')
      await heartbeats.service.put(tx, 'shop', HEARTBEAT, 'anna')
      await heartbeats.service.put(tx, 'backup-restore-drill', { ...HEARTBEAT, everySeconds: 600 }, 'anna')
      await tickets.service.create(tx, { title: 'The shop is slow', level: 'high' }, 'anna')
    })
    w.clock.advance(60_000)
    await heartbeats.service.checkDue()
    w.clock.advance(60_000)
    await heartbeats.service.checkDue()
    const pending = await messages.service.backlog()
    const { status, body } = await w.get('/overview')
    assert.equal(status, 200)
    assert.deepEqual(body.orders, { pending: 0, paid: 1, shipped: 0, completed: 0, expired: 0 })
    assert.deepEqual(body.tickets, { critical: 0, high: 1, medium: 0, low: 0, info: 0 })
    assert.deepEqual([body.alerts.CRITICAL, body.alerts.INFO], [1, 1])
    assert.deepEqual([body.messages.pending, body.messages.dead], [pending.pending, 0])
    assert.equal(body.messages.oldest_pending_at, '2026-01-31T02:00:00.000Z')
    assert.deepEqual([body.night.last.status, body.night.last.succeeded_at], ['running', null])
    assert.deepEqual([body.drill.status, body.drill.last_passed_at], ['waiting', null])
    assert.deepEqual(
      [body.sessions, body.data_backups],
      [{ open: 0 }, { last: null, backup_every_seconds: null }],
    )
    assert.deepEqual(body.executions, { awaiting_approval: 0, oldest_at: null })
  })

  test('names a late heartbeat, and has no certificate before the first', async () => {
    await using w = await openOverview(dialect)
    const { service: heartbeats } = w.domains.heartbeats
    await w.store.write((tx) => heartbeats.put(tx, 'shop', HEARTBEAT, 'anna'))
    for (let run = 0; run < 10; run++) {
      w.clock.advance(5_000)
      await heartbeats.checkDue()
    }
    const { body } = await w.get('/overview')
    assert.deepEqual([body.heartbeats.late, body.heartbeats.items[0].name], [1, 'shop'])
    assert.deepEqual(body.certificates, { expiring: 0, expired: 0, items: [] })
  })
})

for (const role of ROLES) {
  test(`${role} sees the parts whose list the role may read, and the others are null`, async () => {
    await using w = await openOverview('sqlite')
    await w.work()
    const { body } = await w.get('/overview', role)
    const hidden = Object.keys(body).filter((part) => body[part] === null)
    // There is no channel of payments.
    assert.deepEqual(hidden, [...HIDDEN[role], 'payments'])
    const series = await w.get('/overview/series?hours=1', role)
    const last = series.body.items.at(-1)
    assert.equal(last.created === null, HIDDEN[role].includes('orders'))
    assert.equal(last.open_sessions === null, HIDDEN[role].includes('sessions'))
    assert.equal(last.firing_alerts, 0)
  })
}

test('the series has a day by default, and its hours are 1 to 720', async () => {
  await using w = await openOverview('sqlite')
  const { body } = await w.get('/overview/series')
  assert.deepEqual([body.items.length, body.step_seconds], [288, 300])
  assert.deepEqual([body.from, body.to], ['2026-01-30T02:05:00.000Z', '2026-01-31T02:05:00.000Z'])
  assert.equal((await w.get('/overview/series?hours=720')).body.items.length, 8_640)
  for (const hours of ['0', '721', '1.5', '-1', 'many', ''])
    assert.equal((await w.get(`/overview/series?hours=${hours}`)).status, 400, hours)
})

const ADMIN: Identity = { id: 'ada', name: 'ada', roles: ['admin'], via: 'headers' }

/** A store that counts the rows that queries return, and keeps the text of the queries. */
function watched(store: Store) {
  const seen = { rows: 0, queries: [] as string[] }
  const { read } = store
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      seen.rows += result.rows.length
      return result
    },
  }
  const db = read.db.withPlugin(plugin)
  const run: typeof read.run = async (statement, parameters) => {
    const rows = await read.run(statement, parameters)
    seen.queries.push(statement.bind('sqlite', read.db, parameters).text)
    seen.rows += rows.length
    return rows
  }
  const readAside: Store['readAside'] = async (query) => {
    const rows = await store.readAside(query)
    seen.queries.push(query.compile().sql)
    seen.rows += rows.length
    return rows
  }
  return { seen, store: { ...store, read: { ...read, db, run }, readAside } }
}

/** Orders as an earlier release has left them: counted, their events sent and removed. */
async function addOrders(store: Store, count: number): Promise<void> {
  await store.write(async ({ db }) => {
    await sql`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at, version)
      select 'o-' || i, 'live', 100, 'paid', 1, 1, 'client', 1, 1 from n`.execute(db)
    await sql`update overview_orders set paid = ${count}`.execute(db)
  })
}

test('neither the overview nor the series reads more rows because there are 100,000 orders', async () => {
  await using w = await overviewWorld('sqlite')
  const { seen, store } = watched(w.store)
  const { domains, rollUp } = overviewOn(store, w.clock)
  const readRows = async () => {
    Object.assign(seen, { rows: 0, queries: [] })
    const { orders } = await domains.overview.service.read(ADMIN)
    await rollUp.series(1)
    return { paid: orders?.paid, rows: seen.rows }
  }
  const { rows } = await readRows()
  await addOrders(w.store, 100_000)
  assert.deepEqual(await readRows(), { paid: 100_000, rows })
  assert.ok(seen.queries.length > 10)
  assert.deepEqual(
    seen.queries.filter((text) => /(from|join) "?orders\b/i.test(text)),
    [],
  )
})
