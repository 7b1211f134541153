import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../kernel/clock.ts'
import { operationsRoutes, type OperationsOptions, probeRoutes } from './operations.ts'
import { Lifecycle } from '../../kernel/process.ts'
import { silentLogger, type Logger } from '../../kernel/logger.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createHttpServer } from './server.ts'

async function healthWith(
  bus: OperationsOptions['bus'],
  readOnly = false,
  mirror?: OperationsOptions['mirror'],
) {
  const [health] = operationsRoutes({
    version: '0.0.0',
    modules: ['api'],
    readOnly,
    clock: systemClock,
    checkStore: async () => undefined,
    bus,
    mirror,
    exposeMetrics: async () => ({ contentType: 'text/plain', body: '' }),
  })
  assert.ok(health && 'read' in health)
  const answer = await health.read({} as never)
  return answer.body as {
    status: string
    read_only: boolean
    checks: { bus: string; mirror?: string }
    mirror?: unknown
  }
}

const CASES = [
  { bus: { state: 'connected', problem: undefined }, check: 'ok', status: 'ok' },
  { bus: { state: 'connected', problem: 'no stream' }, check: 'degraded', status: 'degraded' },
  { bus: { state: 'disconnected', problem: undefined }, check: 'offline', status: 'degraded' },
] as const

for (const { bus, check, status } of CASES) {
  test(`health is ${status} and its bus ${check} if the bus is ${bus.state}, problem: ${bus.problem}`, async () => {
    const health = await healthWith(bus)
    assert.equal(health.checks.bus, check)
    assert.equal(health.status, status)
  })
}

test('health shows whether the process is read-only', async () => {
  const { bus } = CASES[0]
  assert.equal((await healthWith(bus)).read_only, false)
  assert.equal((await healthWith(bus, true)).read_only, true)
})

test('health of a standby is degraded while it goes by its copy of the users, with the reason', async () => {
  const { bus } = CASES[0]
  const reason = 'the primary does not answer'
  for (const status of ['degraded', 'expired'] as const) {
    const body = await healthWith(bus, false, { health: () => ({ status, ageSeconds: 12.5, reason }) })
    assert.deepEqual([body.status, body.checks.mirror], ['degraded', status])
    assert.deepEqual(body.mirror, { age_seconds: 12.5, reason })
  }
  const { status, checks, mirror } = await healthWith(bus)
  assert.deepEqual([status, checks, mirror], ['ok', { store: 'ok', bus: 'ok' }, undefined])
})

/** A server with the probes, which counts the checks of the database and the lines of its log. */
async function serve(t: TestContext, { checkStore = () => Promise.resolve() } = {}) {
  const lifecycle = new Lifecycle()
  const counts = { checks: 0, info: 0, debug: 0 }
  const counting: Logger = {
    ...silentLogger,
    info: () => void counts.info++,
    debug: () => void counts.debug++,
  }
  const { metrics, expose, close } = createMetrics({ logger: silentLogger })
  const countedCheck = () => {
    counts.checks++
    return checkStore()
  }
  const server = await createHttpServer({
    routes: probeRoutes({ lifecycle, checkStore: countedCheck }),
    identify: () => undefined,
    logger: counting,
    metrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    await server.close()
    close()
  })
  const get = async (name: string) => {
    const response = await fetch(`http://${address}/health/${name}`, { headers: { connection: 'close' } })
    return [response.status, await response.json()]
  }
  return { lifecycle, counts, get, expose }
}

test('a process is ready from the end of its start until it drains', async (t) => {
  const { lifecycle, get } = await serve(t)
  assert.deepEqual(await get('ready'), [503, { status: 'starting' }])
  lifecycle.run()
  assert.deepEqual(await get('ready'), [200, { status: 'ready' }])
  lifecycle.drain()
  assert.deepEqual(await get('ready'), [503, { status: 'draining' }])
  lifecycle.run()
  assert.deepEqual(await get('ready'), [503, { status: 'draining' }])
})

test('a process that cannot use its database is live, but not ready, and does not say why', async (t) => {
  const { lifecycle, counts, get } = await serve(t, {
    checkStore: () => Promise.reject(new Error('disk I/O error at /srv/platform.db')),
  })
  lifecycle.run()
  assert.deepEqual(await get('ready'), [503, { status: 'failing' }])
  assert.equal(counts.checks, 1)
  assert.deepEqual(await get('live'), [200, { status: 'live' }])
  assert.equal(counts.checks, 1, 'the live probe does not use the database')
})

test('probes are not measured, and logged for developers only', async (t) => {
  const { counts, get, expose } = await serve(t)
  await get('live')
  await get('ready')
  assert.deepEqual([counts.info, counts.debug], [0, 2])
  const { body } = await expose()
  assert.doesNotMatch(body, /route="\/health/)
  assert.match(body, /^platform_http_responses_total\{class="5xx"\} 0$/m)
})
