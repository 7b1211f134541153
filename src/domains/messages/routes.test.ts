import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { silentLogger, type Logger } from '../../kernel/logger.ts'
import { DAY, SECOND } from '../../kernel/time.ts'
import type { Role } from '../../kernel/identity.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { EventSubjects } from '../../kernel/events.ts'
import { messageRoutes } from './routes.ts'
import { Messages } from './service.ts'

const SUBJECTS = new EventSubjects([
  { subject: 'order.paid', readers: ['admin', 'service'] },
  { subject: 'vpn.audit.auth_failed', readers: ['admin', 'auditor'] },
  { subject: 'telemetry.agent.*', readers: ['admin', 'service'] },
])
const EVENTS = ['order.paid', 'vpn.audit.auth_failed', 'telemetry.agent.a1']
const MESSAGE = { subject: 'shop.opened', payload: { door: 7 }, headers: { 'x-shop': 'seven' } }

interface Listed {
  readonly items: { readonly subject: string }[]
  readonly next_cursor: string | null
}

interface Reply {
  readonly status: number
  readonly replayed: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** How the bus treats a message while a request waits for its delivery. */
type Outcome = 'delivered' | 'failed' | 'refused'

/** The operations on messages. `waitedFor` has the deliveries that requests waited for: message and time limit. */
async function startApi(dialect: DialectName) {
  await using opening = new AsyncDisposableStack()
  const clock = fakeClock()
  const { store } = opening.use(await testStore(dialect, clock))
  const bus: { outcome?: Outcome; failure?: Error } = {}
  const waitedFor: (readonly [id: string, withinMs: number])[] = []
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => void warnings.push(message) }
  const settle = async (id: string, outcome: Outcome) => {
    const pending = await messages.pending(100, [])
    const settled = pending.filter((message) => message.id === id)
    // A request does not wait for the delivery of a message that is gone, and the store may be closed before it.
    if (settled.length === 0) return
    const reason = 'permission denied'
    const entries = settled.map((message) => ({ ...message, reason, fault: 'not_permitted' as const }))
    await messages.settle({ delivered: [], failed: [], refused: [], [outcome]: entries })
  }
  const messages: Messages = new Messages({
    store,
    clock,
    logger: silentLogger,
    delivery: {
      wake: () => undefined,
      waitForSettlement(id, withinMs) {
        waitedFor.push([id, withinMs])
        if (bus.failure) throw bus.failure
        return bus.outcome ? settle(id, bus.outcome) : Promise.resolve()
      },
    },
    alerts: noAlerts,
  })
  const routes = messageRoutes(messages, SUBJECTS)
  const server = opening.use(await startRouteServer({ store, clock, routes, logger }))
  const publish = async (key?: string): Promise<Reply> => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const response = await server.send('POST', '/messages/publish', {
      body: MESSAGE,
      headers,
      role: 'service',
    })
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replay') === 'true',
      body: (await response.json()) as Reply['body'],
    }
  }
  const opened = opening.move()
  return {
    bus,
    clock,
    messages,
    waitedFor,
    warnings,
    settle,
    publish,
    server,
    /** An event on each subject, and a message of a user. */
    async fill() {
      const events = messages.eventsOf<object>('orders', (data) => JSON.stringify(data))
      await store.write(async (tx) => {
        for (const type of EVENTS) await events.append(tx, { type, subject: 'a', data: {} })
        await messages.publish(tx, MESSAGE)
      })
      return (await messages.list({}, { limit: 9 })).items.toReversed()
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

onEveryDialect('POST /messages/publish', (dialect) => {
  test('answers 202 with a delivered message when the bus confirms it within a second', async () => {
    await using api = await startApi(dialect)
    api.bus.outcome = 'delivered'
    const { status, replayed, body } = await api.publish()
    assert.deepEqual([status, replayed], [202, false])
    assert.deepEqual(body, {
      id: body['id'],
      ...MESSAGE,
      status: 'delivered',
      attempts: 1,
      last_error: null,
      cause: null,
      created_at: '2026-01-31T02:00:00.000Z',
      delivered_at: '2026-01-31T02:00:00.000Z',
    })
    assert.deepEqual(api.waitedFor, [[body['id'], SECOND]])
  })

  test('answers 202 with a pending message when the bus is away or too slow', async () => {
    await using api = await startApi(dialect)
    const { status, body } = await api.publish()
    assert.deepEqual(
      [status, body['status'], body['attempts'], body['delivered_at']],
      [202, 'pending', 0, null],
    )
    assert.deepEqual(
      (await api.messages.pending(10, [])).map(({ id }) => id),
      [body['id']],
    )
  })

  test('answers 202 with a pending message and the reason when the bus has failed to take it', async () => {
    await using api = await startApi(dialect)
    api.bus.outcome = 'failed'
    const { status, body } = await api.publish()
    assert.deepEqual([status, body['status'], body['attempts']], [202, 'pending', 1])
    assert.equal(body['last_error'], 'permission denied')
  })

  test('answers 202 with a dead message when the bus refuses it', async () => {
    await using api = await startApi(dialect)
    api.bus.outcome = 'refused'
    const { status, body } = await api.publish()
    assert.deepEqual([status, body['status'], body['last_error']], [202, 'dead', 'permission denied'])
    assert.deepEqual(body['cause'], { code: 'not_permitted', values: {} })
  })

  test('answers a repeated key with the message as it is now, and publishes nothing', async () => {
    await using api = await startApi(dialect)
    const first = await api.publish('k-1')
    assert.equal(first.body['status'], 'pending')
    await api.settle(String(first.body['id']), 'delivered')
    const again = await api.publish('k-1')
    assert.deepEqual([again.status, again.replayed], [202, true])
    assert.deepEqual(
      [again.body['id'], again.body['status'], again.body['attempts']],
      [first.body['id'], 'delivered', 1],
    )
    const { items } = await api.messages.list({}, { limit: 10 })
    assert.equal(items.length, 1)
  })

  test('answers a repeated key with the stored answer when the message was pruned', async () => {
    await using api = await startApi(dialect)
    api.bus.outcome = 'delivered'
    const { body } = await api.publish('k-1')
    // The newest message is never pruned.
    await api.publish()
    assert.equal(await api.messages.prune(api.clock.now() + DAY, 500), 1)
    const again = await api.publish('k-1')
    assert.deepEqual([again.status, again.replayed], [202, true])
    assert.deepEqual(again.body, { ...body, status: 'pending', attempts: 0, delivered_at: null })
    assert.deepEqual(api.warnings, [])
  })

  test('answers 202 with the committed message when it cannot be read again', async () => {
    await using api = await startApi(dialect)
    api.bus.failure = new Error('the database does not answer')
    const { status, body } = await api.publish()
    assert.deepEqual([status, body['status']], [202, 'pending'])
    assert.equal((await api.messages.get(String(body['id']))).status, 'pending')
    assert.deepEqual(api.warnings, ['a committed change could not be read again'])
  })
})

const VISIBLE: readonly (readonly [Role, readonly string[]])[] = [
  ['admin', [...EVENTS, 'shop.opened']],
  ['service', ['order.paid', 'telemetry.agent.a1', 'shop.opened']],
  ['auditor', ['vpn.audit.auth_failed', 'shop.opened']],
  ['devops', ['shop.opened']],
]

onEveryDialect('the events among the messages', (dialect) => {
  for (const [role, visible] of VISIBLE)
    test(`${role} sees those whose objects it may list, in each way to a message`, async () => {
      await using api = await startApi(dialect)
      for (const { id, subject } of await api.fill()) {
        const status = visible.includes(subject) ? 200 : 403
        assert.equal((await api.server.send('GET', `/messages/${id}`, { role })).status, status, subject)
        const only = await api.server.send('GET', `/messages?subject=${subject}`, { role })
        assert.equal(only.status, status, subject)
        if (status === 200) assert.equal(((await only.json()) as { items: unknown[] }).items.length, 1)
      }
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const from: string = cursor && `&cursor=${cursor}`
        const page = await api.server.send('GET', `/messages?limit=1${from}`, { role })
        const { items, next_cursor } = (await page.json()) as Listed
        seen.unshift(...items.map(({ subject }) => subject))
        cursor = next_cursor
      }
      assert.deepEqual(seen, visible)
    })

  test('are not shown by a redrive either, which then changes nothing', async () => {
    await using api = await startApi(dialect)
    for (const { id, subject } of await api.fill()) {
      await api.settle(id, 'refused')
      const status = subject === 'shop.opened' ? 200 : 403
      const redriven = await api.server.send('POST', `/messages/${id}/redrive`, { role: 'devops' })
      assert.equal(redriven.status, status)
      assert.equal((await api.messages.get(id)).status, status === 200 ? 'pending' : 'dead')
    }
  })

  test('are published by nobody else', async () => {
    await using api = await startApi(dialect)
    for (const [subject, status] of [
      ['order.paid', 403],
      ['order.anything.else', 403],
      ['vpn.x', 403],
      ['telemetry.agent.a1', 403],
      ['order', 202],
      ['orders.paid', 202],
      ['shop.order.paid', 202],
    ] as const) {
      const answer = await api.server.send('POST', '/messages/publish', { body: { subject, payload: {} } })
      const { code } = (await answer.json()) as { code?: string }
      assert.deepEqual([answer.status, code], [status, status === 403 ? 'reserved_subject' : undefined])
    }
  })
})
