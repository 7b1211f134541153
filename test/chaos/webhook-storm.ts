import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { missingForSandbox } from '../support/hosts/sandbox.ts'
import { OVERDUE } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import {
  RECEIVERS_NETWORK,
  startWebhookReceivers,
  type ReceivedEvent,
  type ReceiverKind,
  type WebhookReceivers,
} from '../support/webhook-receivers.ts'
import { openEngine, requireIntegrity, type Engine, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

/** Together 100, as many as there may be. */
const ENDPOINTS: Readonly<Record<ReceiverKind, number>> = {
  healthy: 54,
  slow: 10,
  large: 4,
  hanging: 8,
  refusing: 8,
  redirecting: 6,
  rebinding: 5,
  gone: 5,
}
/** They get every event. */
const TAKING = ['healthy', 'slow', 'large'] as const
const ORDERS_EACH_ROUND = 3
const KILLS_AT_CALL = 0.5
const MAX_WAIT_MS = 3_000
const MAX_LOAD_MS = 800
const PATIENCE = { timeoutMs: 300_000 }

export const webhookStorm: Scenario = {
  name: 'webhook-storm',
  row: 'R-34',
  promise:
    'kill -9 of the worker loses no event at a healthy endpoint and no order of the events, whatever other endpoints do',
  unit: 'kills of the worker',
  rounds: { short: 6, brief: 25, full: 125 },
  parts: [
    { title: 'on SQLite', share: 0.8, run: (trial) => storm(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.2, run: (trial) => storm(trial, 'postgres') },
  ],
  unsupported: () => missingForSandbox([{ command: 'unshare', package: 'util-linux' }]),
}

async function storm(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, wantsMore, scope, signal, show, chance } = trial
  let onCall: (() => void) | undefined
  const receivers = scope.use(await startWebhookReceivers(() => onCall?.()))
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const serve = servesWith(trial, engine, dataDir, receivers.nameServer)
  const api = await serve('api')
  await subscribeAll(api, receivers)
  let kills = 0
  for (; wantsMore(kills); kills++) {
    signal.throwIfAborted()
    show(`kill ${kills + 1} of ${rounds}`)
    const worker = await serve('worker')
    const ordering = placeOrders(api, `round-${kills}`)
    // Half of the kills come while a call waits for its answer.
    const isAtCall = chance.number() < KILLS_AT_CALL
    await (isAtCall
      ? Promise.race([called((call) => (onCall = call)), pause(MAX_WAIT_MS)])
      : pause(chance.between(0, MAX_LOAD_MS)))
    await worker.kill()
    onCall = undefined
    await ordering
    if (engineName === 'sqlite') requireIntegrity(dataDir, `kill ${kills + 1}`)
  }
  await serve('worker')
  await drain(engine)
  await requireGone(engine, api, receivers)
  return { kills, ...(await requireDeliveries(engine, receivers)) }
}

/** Resolves at the next call. */
function called(listen: (onCall: () => void) => void): Promise<void> {
  return new Promise(listen)
}

/** Starts processes that ask this nameserver: of the files of the system, they have another resolv.conf(5). */
function servesWith({ scope }: Trial, engine: Engine, dataDir: string, nameServer: string) {
  const resolverFile = join(scope.use(temporaryDirectory()).path, 'resolv.conf')
  writeFileSync(resolverFile, `nameserver ${nameServer}\n`)
  const mount = `mount --bind ${resolverFile} /etc/resolv.conf && exec "$@"`
  const wrapper = ['unshare', '-Urm', 'sh', '-c', mount, 'sh']
  const env = { ...engine.env, WEBHOOKS_ALLOW_PRIVATE: RECEIVERS_NETWORK }
  return async (modules: string) => scope.use(await servePlatform({ dataDir, modules, env, wrapper }))
}

function endpointsOf(kinds: readonly ReceiverKind[]): { kind: ReceiverKind; number: number }[] {
  return kinds.flatMap((kind) => Array.from({ length: ENDPOINTS[kind] }, (_, number) => ({ kind, number })))
}

async function subscribeAll(api: ServedPlatform, receivers: WebhookReceivers): Promise<void> {
  for (const { kind, number } of endpointsOf(Object.keys(ENDPOINTS) as ReceiverKind[])) {
    const body = { url: receivers.url(kind, number), subjects: ['order.*'], description: kind }
    const answer = await api.call('POST', '/webhooks', { body })
    assert.equal(answer.status, 201, await answer.text())
  }
}

/** Orders that are moved to their end, and one that the worker expires. */
async function placeOrders(api: ServedPlatform, prefix: string): Promise<void> {
  const call = async (method: string, path: string, body: object, status: number) => {
    const answer = await api.call(method, path, { body })
    assert.equal(answer.status, status, await answer.text())
  }
  const order = { platform: 'storm', amount_cents: 1 }
  await call('POST', '/orders', { ...order, order_id: `${prefix}-overdue`, expires_at: OVERDUE }, 201)
  const ids = Array.from({ length: ORDERS_EACH_ROUND }, (_, number) => `${prefix}-${number}`)
  for (const id of ids) await call('POST', '/orders', { ...order, order_id: id }, 201)
  for (const status of ['paid', 'shipped', 'completed'])
    for (const id of ids) await call('PUT', `/orders/${id}`, { status }, 200)
}

const TAKING_LIST = TAKING.map((kind) => `'${kind}'`).join(', ')

/** Waits until the endpoints that take events have all of them. */
async function drain({ count }: Engine): Promise<void> {
  const isBehind = `pending > 0 or place < (select max(seq) from messages)`
  const orders = `select count(*) from orders where status = 'pending'`
  const behind = `select count(*) from webhooks where description in (${TAKING_LIST}) and (${isBehind})`
  await eventually('the overdue orders expire', async () => (await count(orders)) === 0, PATIENCE)
  await eventually(
    'nothing waits for an endpoint that takes it',
    async () => (await count(behind)) === 0,
    PATIENCE,
  )
}

/** An endpoint that has answered 410 is disabled, and gets nothing of a later order. */
async function requireGone(engine: Engine, api: ServedPlatform, receivers: WebhookReceivers): Promise<void> {
  const calls = () => endpointsOf(['gone']).map(({ kind, number }) => receivers.received(kind, number).length)
  const gone = await engine.count(`select count(*) from webhooks where disabled_reason = 'gone'`)
  assert.equal(gone, ENDPOINTS.gone)
  const before = calls()
  await placeOrders(api, 'after')
  await drain(engine)
  assert.deepEqual(calls(), before)
}

async function requireDeliveries(engine: Engine, receivers: WebhookReceivers): Promise<Figures> {
  const rows = await engine.rows(`select id, payload from messages where subject like 'order.%' order by seq`)
  const expected = rows.map(({ payload }) => JSON.parse(String(payload)) as ReceivedEvent)
  const places = new Map(expected.map(({ id }, place) => [id, place]))
  let deliveries = 0
  for (const { kind, number } of endpointsOf(TAKING)) {
    const received = receivers.received(kind, number)
    deliveries += received.length
    const missing = new Set(places.keys()).difference(new Set(received.map(({ id }) => id)))
    assert.deepEqual([...missing], [], `events that ${kind} ${number} did not get`)
    for (const [subject, events] of Map.groupBy(received, (event) => event.subject)) {
      const order = events.map(({ id }) => places.get(id) ?? -1)
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        `the order of ${subject} at ${kind} ${number}`,
      )
    }
  }
  assert.equal(receivers.strayCalls(), 0, 'calls of addresses that no endpoint has')
  assert.ok(receivers.privateAnswers() > 0, 'the name of an endpoint has become private')
  const refused = await engine.count(
    `select count(*) from webhook_deliveries where error = 'address_refused'`,
  )
  assert.ok(refused > 0, 'calls of a private address are refused')
  return {
    endpoints: endpointsOf(Object.keys(ENDPOINTS) as ReceiverKind[]).length,
    events: expected.length,
    deliveries,
    lost: 0,
    'sent again': deliveries - expected.length * endpointsOf(TAKING).length,
  }
}
