import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'
import { startNats } from '../support/nats.ts'
import { canHaveBecome, startOrderClients, type OrderStep } from '../support/order-clients.ts'
import {
  callPlatform,
  runPlatform,
  servePlatform,
  temporaryDirectory,
  type ServedPlatform,
} from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { chanceOf } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'

const ENGINES = ['sqlite', 'postgres'] as const
const DUE = { order_id: 'due', platform: 'live', amount_cents: 4_990, expires_at: '2026-01-01T00:00:00Z' }
const QUICK_SCAN = { WORKER_ORDER_SCAN: '50ms' }

interface OrderAnswer {
  readonly order_id: string
  readonly status: string
}

/** A data directory and a database that all processes of a test share. */
async function world(t: TestContext, engine: (typeof ENGINES)[number] = 'sqlite') {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory())
  const env: Record<string, string> = {}
  if (engine === 'postgres') {
    const { url, drop } = await createTestDatabase()
    scope.defer(drop)
    env['DATABASE_URL'] = url
  }
  return {
    dataDir: directory.path,
    async serve(modules: string, more: Readonly<Record<string, string>> = {}): Promise<ServedPlatform> {
      const served = await servePlatform({ dataDir: directory.path, modules, env: { ...env, ...more } })
      return scope.use(served)
    },
  }
}

async function nats(t: TestContext, options: { port?: number; jetstream?: boolean } = {}) {
  const server = await startNats({ jetstream: false, ...options })
  t.after(() => server.stop())
  return server
}

async function json<T>(answer: Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T
}

async function items<T>(platform: ServedPlatform, path: string): Promise<T[]> {
  return (await json<{ items: T[] }>(platform.call('GET', path))).items
}

const orderStatus = async (platform: ServedPlatform, id: string) =>
  (await json<OrderAnswer>(platform.call('GET', `/orders/${id}`))).status

/** The status of every order, by id. */
async function allOrders(platform: ServedPlatform): Promise<Map<string, string>> {
  const statuses = new Map<string, string>()
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { items: OrderAnswer[]; next_cursor: string | null } = await json(
      platform.call('GET', `/orders?limit=1000${cursor && `&cursor=${cursor}`}`),
    )
    for (const { order_id, status } of page.items) statuses.set(order_id, status)
    cursor = page.next_cursor
  }
  return statuses
}

async function connected(platform: ServedPlatform): Promise<void> {
  await eventually('the bus to be connected', () =>
    platform.logs().some(({ message }) => message === 'bus connected'),
  )
}

for (const engine of ENGINES) {
  describe(`modules on ${engine}`, { concurrency: 2 }, () => {
    test('a worker process expires an order that was created in an api process', async (t) => {
      const { serve } = await world(t, engine)
      const api = await serve('api', QUICK_SCAN)
      assert.equal((await api.call('POST', '/orders', { body: DUE })).status, 201)
      assert.equal(await orderStatus(api, 'due'), 'pending', 'there is no worker yet')
      const worker = await serve('worker', QUICK_SCAN)
      await eventually('the order to expire', async () => (await orderStatus(api, 'due')) === 'expired')
      const [event] = await items<{ payload: { source: string; subject: string } }>(
        api,
        '/messages?subject=order.timeout',
      )
      assert.deepEqual([event?.payload.source, event?.payload.subject], ['/platform/orders', 'due'])
      const [alert] = await items<{ alarm_id: string; severity: string }>(api, '/alerts')
      assert.deepEqual([alert?.alarm_id, alert?.severity], ['order.timeout:due', 'WARNING'])
      assert.deepEqual([await worker.stop(), await api.stop()], [0, 0])
    })

    for (const modules of ['api,worker', 'all']) {
      test(`an order expires in one process that runs ${modules}`, async (t) => {
        const { serve } = await world(t, engine)
        const platform = await serve(modules, QUICK_SCAN)
        assert.equal((await platform.call('POST', '/orders', { body: DUE })).status, 201)
        await eventually(
          'the order to expire',
          async () => (await orderStatus(platform, 'due')) === 'expired',
        )
        assert.equal(await platform.stop(), 0)
      })
    }

    test('processes that start concurrently on an empty database share schema, secret and first admin', async (t) => {
      const { serve } = await world(t, engine)
      const started = await Promise.all([serve('api'), serve('api'), serve('worker')])
      const passwords = started.flatMap(({ stderr }) => /password (\S+)/.exec(stderr())?.[1] ?? [])
      assert.equal(passwords.length, 1, 'one of them created the admin')
      const [first, second] = started
      const body = { username: 'admin', password: passwords[0] }
      const { access_token: token } = await json<{ access_token: string }>(
        first.call('POST', '/auth/login', { body }),
      )
      const me = await fetch(`${second.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
      assert.equal(me.status, 200)
      assert.equal((await items(second, '/users')).length, 1)
    })

    test('a stop under load loses no acknowledged change', async (t) => {
      const chance = chanceOf(t)
      const { serve } = await world(t, engine)
      const acknowledged = new Map<string, OrderStep>()
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        const platform = await serve('all')
        const clients = startOrderClients({ url: platform.url, clients: 8, prefix: signal, chance })
        await eventually('some load', () => clients.acknowledged.size > 50 + chance.between(0, 100))
        platform.signal(signal)
        assert.equal(await platform.ended, 0)
        await clients.stop()
        assert.deepEqual(clients.unexpected, [])
        for (const [id, status] of clients.acknowledged) acknowledged.set(id, status)
        // The line of a request whose client leaves meanwhile may come last.
        const last = platform.logs().filter(({ message }) => message !== 'request')
        assert.equal(last.at(-1)?.message, 'stopped')
      }
      const orders = await allOrders(await serve('api'))
      const lost = [...acknowledged].filter(([id, status]) => !canHaveBecome(orders.get(id), status))
      assert.deepEqual(lost, [])
    })
  })
}

describe('platform serve', { concurrency: 2 }, () => {
  test('prints the password of the first admin once, and does not log it', async (t) => {
    const { serve, dataDir } = await world(t)
    const first = await serve('all')
    const password = /created the user "admin" with the password (\S+)/.exec(first.stderr())?.[1]
    assert.ok(password, first.stderr())
    const login = await first.call('POST', '/auth/login', { body: { username: 'admin', password } })
    assert.equal(login.status, 200)
    assert.doesNotMatch(JSON.stringify(first.logs()), new RegExp(password))
    for (const name of readdirSync(dataDir)) {
      assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, `${name} is accessible only to its owner`)
      assert.ok(!readFileSync(join(dataDir, name)).includes(password), `${name} contains the password`)
    }
    assert.equal(await first.stop(), 0)
    const files = readdirSync(dataDir).filter((name) => name !== 'audit-seal')
    assert.deepEqual(files.sort(), ['audit-key', 'identity-key', 'jwt-secret', 'platform.db'])

    const second = await serve('all')
    assert.equal(second.stderr(), '')
  })

  test('two that start at once on one new directory share its database, keys and work', async (t) => {
    const { serve } = await world(t)
    const both = await Promise.all(
      ['a', 'b'].map((name) => serve('all', { GATEWAY_NAME: name, ...QUICK_SCAN })),
    )
    const [one, other] = both as [ServedPlatform, ServedPlatform]
    const passwords = both.flatMap((each) => /the password (\S+)/.exec(each.stderr())?.[1] ?? [])
    assert.equal(passwords.length, 1, 'one of them made the first user')
    const login = { body: { username: 'admin', password: passwords[0] } }
    for (const [issuer, judge] of [both, both.toReversed()] as [ServedPlatform, ServedPlatform][]) {
      const { access_token: token } = await json<{ access_token: string }>(
        issuer.call('POST', '/auth/login', login),
      )
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await fetch(`${judge.url}/auth/me`, { headers })).status, 200)
    }
    const order = { body: DUE, headers: { 'idempotency-key': 'the same' } }
    const orders = await Promise.all(
      both.map((each) => json<OrderAnswer>(each.call('POST', '/orders', order))),
    )
    assert.deepEqual(orders[0], orders[1])
    await eventually('the order to expire', async () => (await orderStatus(one, 'due')) === 'expired')
    const timeouts = await items(other, '/messages?subject=order.timeout')
    assert.equal(timeouts.length, 1)
  })

  test('serves only health and metrics on the address of a worker', async (t) => {
    const { serve } = await world(t)
    const worker = await serve('worker', { WORKER_LISTEN_ADDR: '127.0.0.1:0' })
    assert.equal(worker.url, '', 'there is no api')
    const get = (path: string, method = 'GET') => callPlatform(worker.workerUrl, method, path)
    const health = await json<{ status: string; modules: string[] }>(get('/health'))
    assert.deepEqual([health.status, health.modules], ['degraded', ['worker']])
    assert.deepEqual(await json(get('/health/live')), { status: 'live' })
    assert.deepEqual(await json(get('/health/ready')), { status: 'ready' })
    assert.match(await (await get('/metrics')).text(), /^platform_job_runs_total\{name="order-timeout"/m)
    for (const path of ['/orders', '/users', '/messages', '/auth/me'])
      assert.equal((await get(path)).status, 404, path)
    assert.equal((await get('/auth/login', 'POST')).status, 404)
    using directory = temporaryDirectory()
    const env = { WORKER_LISTEN_ADDR: new URL(worker.workerUrl).host }
    const asked = () => runPlatform(['health', '--module', 'worker'], { dataDir: directory.path, env })
    assert.deepEqual(await asked(), { code: 0, stdout: 'ready\n', stderr: '' })
    assert.equal(await worker.stop(), 0)
    const { code, stderr } = await asked()
    assert.match(`${code} ${stderr}`, /^1 platform: http:\S+ does not answer: .*ECONNREFUSED/)
  })

  test('is degraded without the bus, and delivers as soon as it is connected', async (t) => {
    const { serve } = await world(t)
    const port = await freePort()
    const platform = await serve('all', { BUS_SERVER: `nats://127.0.0.1:${port}` })
    const health = () =>
      json<{ status: string; checks: { store: string; bus: string } }>(platform.call('GET', '/health'))
    assert.deepEqual((await health()).checks, { store: 'ok', bus: 'offline' })
    assert.equal((await health()).status, 'degraded')
    const publish = () =>
      platform.call('POST', '/messages/publish', { body: { subject: 'shop.opened', payload: 1 } })
    const waiting = await json<{ id: string; status: string }>(publish())
    assert.equal(waiting.status, 'pending')

    const server = await nats(t, { port })
    await eventually('the bus to be connected', async () => (await health()).status === 'ok')
    await eventually('the message to be delivered', async () => {
      const { status } = await json<{ status: string }>(platform.call('GET', `/messages/${waiting.id}`))
      return status === 'delivered'
    })
    assert.equal((await json<{ status: string }>(publish())).status, 'delivered')

    await server.kill()
    await eventually('the bus to be disconnected', async () => (await health()).status === 'degraded')
    assert.equal((await platform.call('GET', '/health')).status, 200)
    await server.restart()
    await eventually('the bus to be connected again', async () => (await health()).status === 'ok')
  })

  test('delivers right after the start of a worker the events of an api without a bus', async (t) => {
    const { serve } = await world(t)
    const api = await serve('api')
    await api.call('POST', '/orders', { body: { order_id: 'o-1', platform: 'live', amount_cents: 1 } })
    const server = await nats(t)
    const worker = await serve('worker', { BUS_SERVER: server.url })
    await connected(worker)
    await eventually(
      'the event to be delivered',
      async () => (await items<{ status: string }>(api, '/messages'))[0]?.status === 'delivered',
    )
  })

  test('finishes a request in progress after SIGTERM, even after a second signal', async (t) => {
    const { serve } = await world(t)
    const server = await nats(t)
    const platform = await serve('all', { BUS_SERVER: server.url })
    await connected(platform)
    const publish = () =>
      platform.call('POST', '/messages/publish', { body: { subject: 'shop.opened', payload: 1 } })
    await eventually(
      'the first delivery',
      async () => (await json<{ status: string }>(publish())).status === 'delivered',
    )
    // The bus does not respond now, so a call waits a second for its confirmation.
    server.pause()
    const inProgress = publish()
    await eventually('the message to be stored', async () => {
      return (await items<{ status: string }>(platform, '/messages?status=pending')).length > 0
    })
    // Without TLS there is nothing to read again.
    platform.signal('SIGHUP')
    platform.signal('SIGTERM')
    await eventually('the stop to begin', () => platform.logs().some(({ message }) => message === 'stopping'))
    platform.signal('SIGTERM')
    platform.signal('SIGINT')
    const answer = await inProgress
    assert.equal(answer.status, 202)
    assert.equal((await json<{ status: string }>(Promise.resolve(answer))).status, 'pending')
    assert.equal(await platform.ended, 0)
    server.resume()
  })

  test('answers the first requests of fifty connections that it has not accepted when SIGTERM comes', async (t) => {
    const { serve } = await world(t)
    const platform = await serve('api')
    const { hostname, port } = new URL(platform.url)
    // While the process stands still, the kernel completes connections and keeps what they send.
    platform.signal('SIGSTOP')
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(Number(port), hostname)
        t.after(() => socket.destroy())
        await once(socket, 'connect')
        socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
        return socket
      }),
    )
    platform.signal('SIGTERM')
    platform.signal('SIGCONT')
    for (const answer of await Promise.all(sockets.map((socket) => readText(socket))))
      assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.equal(await platform.ended, 0)
  })

  test('does not wait for ever for a client that never finishes its request', async (t) => {
    const { serve } = await world(t)
    const platform = await serve('api')
    const { hostname, port } = new URL(platform.url)
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    socket.on('error', () => undefined)
    socket.write(
      'POST /orders HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    )
    // The response to a later request on another connection shows that the server has read the first one.
    assert.equal((await platform.call('GET', '/health')).status, 200)
    assert.equal(await platform.stop(), 0)
  })

  test('shows the metrics that a dashboard needs, also counters that are 0', async (t) => {
    const { serve } = await world(t)
    const server = await nats(t)
    const platform = await serve('all', { BUS_SERVER: server.url })
    await connected(platform)
    await platform.call('POST', '/orders', { body: { order_id: 'o-1', platform: 'live', amount_cents: 1 } })
    const SAMPLES = [
      'platform_nodejs_eventloop_lag_p99_seconds ',
      'platform_store_commit_seconds_count ',
      'platform_store_commit_group_size_count ',
      'platform_store_write_queue_length 0',
      'platform_outbox_pending ',
      'platform_outbox_oldest_seconds ',
      'platform_outbox_dead 0',
      'platform_outbox_messages_total{outcome="delivered"} 1',
      'platform_bus_connected 1',
      'platform_orders{status="pending"} ',
      'platform_orders{status="expired"} 0',
      'platform_order_changes_total{status="pending"} 1',
      'platform_process_resident_memory_bytes ',
      'platform_process_open_fds ',
      'platform_process_cpu_seconds_total ',
      'platform_orders_overdue_seconds 0',
      'platform_read_only 0',
      'platform_build_info{version="',
      'platform_http_responses_total{class="5xx"} 0',
      'platform_job_runs_total{name="order-timeout",outcome="failed"} 0',
      'platform_job_last_success_timestamp_seconds{name="order-timeout"} ',
      'platform_job_last_success_timestamp_seconds{name="order-count"} ',
    ]
    let text = ''
    const missing = await eventually('all metrics', async () => {
      text = await (await platform.call('GET', '/metrics')).text()
      const lines = text.split('\n')
      const absent = SAMPLES.filter((sample) => !lines.some((line) => line.startsWith(sample)))
      return absent.length === 0 || Promise.reject(new Error(`missing: ${absent.join('; ')}\n${text}`))
    })
    assert.ok(missing)
    const byRoute =
      /^platform_http_request_seconds_count\{(?=[^}]*route="\/orders")(?=[^}]*status="201")[^}]*\} 1$/m
    assert.match(text, byRoute)
    assert.match(text, /^platform_http_request_seconds_sum\{(?=[^}]*route="\/orders")[^}]*\} [\d.e-]*[1-9]/m)
    assert.match(
      (await platform.call('GET', '/metrics')).headers.get('content-type') ?? '',
      /^text\/plain; version=0\.0\.4/,
    )
  })
})
