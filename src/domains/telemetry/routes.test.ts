import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { noAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { testStore } from '../../../test/support/store.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { TelemetryOutbox } from './outbox.ts'
import { telemetryRoutes } from './routes.ts'
import { Telemetry } from './service.ts'

const PATH = '/api/v1/telemetry'
const AGENTS = `${PATH}/agents`

interface ErrorWire {
  readonly code: string
  readonly details?: readonly { readonly path: string }[]
}

async function startApi() {
  await using opening = new AsyncDisposableStack()
  const clock = fakeClock()
  const { store } = opening.use(await testStore('sqlite', clock))
  const telemetry = new Telemetry({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    delivery: { wake() {} },
    newestMessage: sql.lit(0),
    maxPending: 1_000,
    ratePerSecond: 100,
  })
  const outbox = new TelemetryOutbox({
    store,
    clock,
    alerts: noAlerts,
    deadLetters: { setAside: async () => true },
  })
  const routes = telemetryRoutes(telemetry, () => clock.now())
  const server = opening.use(await startRouteServer({ store, clock, routes }))
  const opened = opening.move()
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await server.send(method, path, { body, headers })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    clock,
    outbox,
    call,
    send: (body: unknown, headers?: Record<string, string>) => call('POST', PATH, body, headers),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const items = (count: number) => Array.from({ length: count }, (_, n) => ({ data: { n } }))

test('one item, and a batch of up to 500, get 202 with their number', async () => {
  await using api = await startApi()
  const one = await api.send({
    agent_id: 'a-1',
    at: '2026-01-31T03:00:00+01:00',
    data: { deep: [{ n: null }] },
  })
  assert.deepEqual([one.status, one.body], [202, { accepted: 1 }])
  const batch = await api.send({ agent_id: 'A_2', items: items(500) })
  assert.deepEqual([batch.status, batch.body], [202, { accepted: 500 }])
})

const WRONG: readonly (readonly [what: string, body: unknown, path: string])[] = [
  ['no agent', { data: {} }, 'agent_id'],
  ['a dot in the agent', { agent_id: 'a.b', data: {} }, 'agent_id'],
  ['an agent of 65 characters', { agent_id: 'a'.repeat(65), data: {} }, 'agent_id'],
  ['neither data nor items', { agent_id: 'a' }, 'data'],
  ['data and items', { agent_id: 'a', data: {}, items: items(1) }, 'data'],
  ['a time beside the items', { agent_id: 'a', at: '2026-01-31T02:00:00Z', items: items(1) }, 'at'],
  ['a list as data', { agent_id: 'a', data: [] }, 'data'],
  ['null as data', { agent_id: 'a', data: null }, 'data'],
  ['no items', { agent_id: 'a', items: [] }, 'items'],
  ['501 items', { agent_id: 'a', items: items(501) }, 'items'],
  ['an item without data', { agent_id: 'a', items: [{ data: {} }, {}] }, 'items.1.data'],
  ['an unknown field in an item', { agent_id: 'a', items: [{ data: {}, unit: 'C' }] }, 'items.0.unit'],
  ['an unknown field', { agent_id: 'a', data: {}, unit: 'C' }, 'unit'],
  ['a day that does not exist', { agent_id: 'a', at: '2026-02-30T00:00:00Z', data: {} }, 'at'],
  [
    'such a day in an item',
    { agent_id: 'a', items: [{ at: '2026-02-30T00:00:00Z', data: {} }] },
    'items.0.at',
  ],
]

test('bad input is 400, names the field and stores nothing', async (t) => {
  await using api = await startApi()
  for (const [what, body, path] of WRONG) {
    await t.test(what, async () => {
      const answer = await api.send(body)
      const { code, details = [] } = answer.body as ErrorWire
      assert.deepEqual([answer.status, code], [400, 'validation_failed'])
      assert.ok(
        details.some((each) => each.path === path),
        JSON.stringify(details),
      )
    })
  }
  assert.deepEqual((await api.call('GET', AGENTS)).body, { items: [], next_cursor: null })
  assert.deepEqual(await api.outbox.pending(10, []), [])
})

test('an item that the bus would refuse for its size is 413, and the batch is not stored', async () => {
  await using api = await startApi()
  const large = { data: { text: 'x'.repeat(1_000_000) } }
  const answer = await api.send({ agent_id: 'a', items: [{ data: {} }, large] })
  assert.deepEqual([answer.status, (answer.body as ErrorWire).code], [413, 'payload_too_large'])
  assert.deepEqual(await api.outbox.pending(10, []), [])
})

test('above the rate the answer is 429 with the seconds to wait', async () => {
  await using api = await startApi()
  await api.send({ agent_id: 'a', items: items(500) })
  const answer = await api.send({ agent_id: 'a', items: items(250) })
  assert.deepEqual([answer.status, (answer.body as ErrorWire).code], [429, 'rate_limited'])
  assert.equal(answer.headers.get('retry-after'), '3')
  api.clock.advance(3_000)
  assert.equal((await api.send({ agent_id: 'a', items: items(250) })).status, 202)
})

test('a request that is repeated with its key is accepted once, also when its agent has no token left', async () => {
  await using api = await startApi()
  const body = { agent_id: 'a', items: items(500) }
  const headers = { 'idempotency-key': 'upload-1' }
  await api.send(body, headers)
  const again = await api.send(body, headers)
  assert.deepEqual([again.status, again.headers.get('idempotent-replay')], [202, 'true'])
  assert.equal((await api.outbox.pending(1_000, [])).length, 500)
})

test('agents are listed in pages, newest first, and read with their last item', async () => {
  await using api = await startApi()
  for (const agent of ['a', 'b', 'c']) await api.send({ agent_id: agent, items: items(2) })
  const first = (await api.call('GET', `${AGENTS}?limit=2`)).body as {
    items: { agent_id: string }[]
    next_cursor: string
  }
  assert.deepEqual(
    first.items.map((agent) => agent.agent_id),
    ['c', 'b'],
  )
  const time = '2026-01-31T02:00:00.000Z'
  const a = { agent_id: 'a', first_at: time, last_at: time, items: 2 }
  const second = await api.call('GET', `${AGENTS}?limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual(second.body, { items: [a], next_cursor: null })
  const one = await api.call('GET', `${AGENTS}/a`)
  assert.deepEqual(one.body, { ...a, last_item: { at: time, data: { n: 1 } } })
  const none = await api.call('GET', `${AGENTS}/nobody`)
  assert.deepEqual([none.status, (none.body as ErrorWire).code], [404, 'agent_not_found'])
})
