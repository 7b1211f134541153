import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireOrders } from '../chaos/support/order-invariants.ts'
import { openEngine } from '../chaos/support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { startOrderClients } from '../support/order-clients.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { chanceOf } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'

// Fewer than the connections of one process, so that every transaction gets another one.
const CONNECTIONS = 3
const ORDERS = 200

test('two processes share a few connections of a PgBouncer in transaction mode', async (t) => {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('postgres', dataDir, scope)
  const bouncer = await startPgBouncer(String(engine.env['DATABASE_URL']), CONNECTIONS)
  scope.defer(() => bouncer.stop())
  const env = { DATABASE_URL: `${bouncer.url}?pgbouncer=true`, WORKER_ORDER_SCAN: '100ms' }
  const first = scope.use(await servePlatform({ dataDir, env }))
  const second = scope.use(await servePlatform({ dataDir, modules: 'api', env }))

  const chance = chanceOf(t)
  const loads = [first, second].map(({ url }, index) =>
    startOrderClients({ url, clients: 4, prefix: `p${index}`, chance }),
  )
  await eventually('orders through both', () =>
    loads.every(({ acknowledged }) => acknowledged.size >= ORDERS),
  )
  await Promise.all(loads.map((load) => load.stop()))

  assert.deepEqual(
    loads.flatMap(({ unexpected }) => unexpected),
    [],
  )
  const overdue = `select count(*) from orders where status = 'pending' and expires_at <= ${Date.parse('2026-01-01T00:00:00Z')}`
  await eventually('overdue orders expire', async () => (await engine.count(overdue)) === 0)
  await requireOrders(engine, new Map(loads.flatMap(({ acknowledged }) => [...acknowledged])))
  assert.equal((await first.call('GET', '/health')).status, 200)
})

test('without pgbouncer=true the start fails, and names the parameter', async (t) => {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('postgres', dataDir, scope)
  const bouncer = await startPgBouncer(String(engine.env['DATABASE_URL']), CONNECTIONS)
  scope.defer(() => bouncer.stop())
  const { code, stderr } = await runPlatform(['serve'], { dataDir, env: { DATABASE_URL: bouncer.url } })
  assert.equal(code, 1)
  assert.match(stderr, /add the parameter pgbouncer=true to database\.url/)
})
