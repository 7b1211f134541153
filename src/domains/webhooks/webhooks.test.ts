import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { chanceOf } from '../../../test/support/random.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import { fakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import type { AuditRecord } from '../../kernel/audit.ts'
import type { AppError } from '../../kernel/errors.ts'
import { EventSubjects } from '../../kernel/events.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, MINUTE, SECOND, toRfc3339 } from '../../kernel/time.ts'
import type { WebhookCall, WebhookCaller } from '../../ports/webhook-caller.ts'
import type { Tx } from '../../store/store.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { continueNumbers, Messages, messagesDomain } from '../messages/index.ts'
import { RETRY_PAUSES_MS, sentEventOf, type CallResult, type WebhookSettings } from './model.ts'
import { Webhooks } from './service.ts'
import { findWebhook, interruptDeliveries, listDueDeliveries } from './store.ts'
import { deliverTo, Endpoints, WebhookFeed } from './worker.ts'

const OK: CallResult = { status: 200, headers: [], body: '' }
const answer = (status: number, retryAfterMs?: number): CallResult => ({
  ...OK,
  status,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
const SETTINGS: WebhookSettings = {
  url: 'https://one.example/',
  subjects: ['order.*'],
  description: '',
  ordered: true,
  enabled: true,
}
const KEEP_MS = 7 * DAY
const FREE = { turn: async (wanted: number) => wanted }

async function world(dialect: DialectName) {
  const clock = fakeWaitingClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const alerts: string[] = []
  const bodies: string[] = []
  const audited: string[] = []
  const calls: WebhookCall[] = []
  let respond: (call: WebhookCall, signal: AbortSignal) => CallResult | Promise<CallResult> = () => OK
  const caller: WebhookCaller = {
    refusal: () => undefined,
    call: async (call, signal) => {
      calls.push(call)
      return (await respond(call, signal)) as never
    },
  }
  const messageDeps = {
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    delivery: { wake() {}, waitForSettlement: async () => undefined },
    alerts: { raise: async () => undefined, recoverIfRaised: async () => undefined },
  }
  const { log } = messagesDomain.create({
    ...messageDeps,
    subjects: new EventSubjects([]),
    keepMs: KEEP_MS,
  })
  const messages = new Messages(messageDeps)
  const orders = messages.eventsOf('orders', (data: object) => JSON.stringify(data))
  const deps = {
    ...messageDeps,
    alerts: {
      raise: async (tx: Tx, alert: { alarmId: string; severity: string; body: string }) =>
        tx.afterCommit(() => {
          alerts.push(`${alert.alarmId} ${alert.severity}`)
          bodies.push(alert.body)
        }),
      recoverIfRaised: async (tx: Tx, alert: { alarmId: string }) =>
        tx.afterCommit(() => alerts.push(`${alert.alarmId} CLOSE`)),
    },
    audit: {
      record: async (tx: Tx, { operation }: AuditRecord) => tx.afterCommit(() => audited.push(operation)),
    },
    log,
    caller,
    keepMs: KEEP_MS,
    wakeFeed() {},
    wakeEndpoint() {},
  }
  const service = new Webhooks(deps)
  const webhooks = inTransactions(
    store,
    service,
    'create',
    'edit',
    'remove',
    'rotate',
    'test',
    'redeliver',
    'recover',
  )
  const endpoints = new Endpoints(clock, () => undefined)
  const newFeed = () => new WebhookFeed({ store, clock, logger: silentLogger, log, endpoints, pace: FREE })
  const feed = newFeed()
  const deliver = (id: string, signal = new AbortController().signal) =>
    deliverTo(id, { store, clock, log, caller, pace: FREE, webhooks: service, endpoints }, signal)
  return {
    clock,
    store,
    alerts,
    bodies,
    audited,
    settle: (...settled: Parameters<Webhooks['settle']>) => service.settle(...settled),
    newFeed,
    calls,
    webhooks,
    messages,
    log,
    deliver,
    respond: (next: typeof respond) => void (respond = next),
    create: async (settings: Partial<WebhookSettings> = {}) =>
      webhooks.create({ ...SETTINGS, ...settings }, 'ada', await log.settledPlace()),
    emit: (subject: string, type = 'order.created') =>
      store.write((tx) => orders.append(tx, { type, subject, data: { subject, type } })),
    async fanOut() {
      while (await feed.runRound());
    },
    /** The events that come now are delivered. */
    async turn(id: string) {
      while (await feed.runRound());
      await deliver(id)
    },
    statuses: async (id: string) =>
      (await webhooks.deliveries(id, undefined, { limit: 100 })).items.map(
        ({ status, attempts }) => `${status} ${attempts}`,
      ),
    enable: async (id: string) =>
      webhooks.edit(id, { enabled: true }, 'ada', { versions: undefined, place: await log.settledPlace() }),
    [Symbol.asyncDispose]: dispose,
  }
}

type World = Awaited<ReturnType<typeof world>>

async function readPause({ store }: World, id: string): Promise<number> {
  return (await findWebhook(store.read, id))?.pausedUntil ?? 0
}

const subjectsOf = (calls: readonly WebhookCall[]) =>
  calls.map(({ body }) => (JSON.parse(body) as { subject: string }).subject)

onEveryDialect('webhooks', (dialect) => {
  test('an endpoint gets the events of its subjects from its creation on, each once', async () => {
    await using w = await world(dialect)
    await w.emit('before')
    const { id } = await w.create()
    await w.emit('o1')
    await w.emit('t1', 'ticket.created')
    await w.emit('o2')
    await w.turn(id)
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls).sort(), ['o1', 'o2'])
    const [call] = w.calls
    assert.equal(call?.headers['webhook-id'], (JSON.parse(call?.body ?? '') as { id: string }).id)
    assert.deepEqual(await w.statuses(id), ['delivered 1', 'delivered 1'])
    assert.equal((await w.webhooks.get(id)).pending, 0)
  })

  test('a failed delivery is tried after each pause of the table, then it has failed; its thing waits', async () => {
    await using w = await world(dialect)
    w.respond(({ body }) => (body.includes('"subject":"bad"') ? answer(500) : OK))
    const { id } = await w.create()
    await w.emit('bad')
    await w.emit('good')
    await w.emit('bad', 'order.paid')
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls).sort(), ['bad', 'good'])
    for (const pause of RETRY_PAUSES_MS) {
      w.clock.advance(pause - 1)
      const before = w.calls.length
      await w.deliver(id)
      assert.equal(w.calls.length, before, 'too early')
      w.clock.advance(1)
      // Without a success the endpoint is not disabled: 5 days have not passed.
      w.respond(({ body }) => (body.includes('"type":"order.created"') ? answer(500) : OK))
      await w.deliver(id)
      assert.ok(w.calls.length > before)
    }
    assert.deepEqual(await w.statuses(id), ['delivered 1', 'delivered 1', 'failed 10'])
    const ids = w.calls.map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, 3)
  })

  test('without an order the events of one thing do not wait for each other', async () => {
    await using w = await world(dialect)
    w.respond(({ body }) => (body.includes('order.created') ? answer(500) : OK))
    const { id } = await w.create({ ordered: false })
    await w.emit('o1')
    await w.emit('o1', 'order.paid')
    await w.turn(id)
    assert.deepEqual(await w.statuses(id), ['delivered 1', 'pending 1'])
  })

  test('Retry-After pauses the endpoint, and uses up no pause of the table', async () => {
    await using w = await world(dialect)
    w.respond(() => answer(429, MINUTE))
    const { id } = await w.create()
    await w.emit('o1')
    await w.turn(id)
    await w.emit('o2')
    await w.turn(id)
    assert.equal(w.calls.length, 1)
    for (let i = 0; i < 12; i++) {
      w.clock.advance(MINUTE)
      await w.deliver(id)
    }
    w.respond(() => OK)
    w.clock.advance(MINUTE)
    await w.deliver(id)
    assert.deepEqual(
      (await w.statuses(id)).map((each) => each.split(' ')[0]),
      ['delivered', 'delivered'],
    )
  })

  test('a pause outlasts the answers of calls that were on their way, a restart, and no clock that is set back', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    w.respond(({ body }) => (body.includes('busy') ? answer(429, 2 * MINUTE) : OK))
    await w.emit('busy')
    await w.turn(id)
    const [busy] = await listDueDeliveries(w.store.read, id, w.clock.now() + HOUR, 1)
    assert.ok(busy)
    // A call that began before the answer of the other one.
    await w.store.write((tx) => w.settle(tx, id, [{ delivery: { ...busy, thing: 'other' }, result: OK }]))
    const isPaused = async () => (await readPause(w, id)) > w.clock.now()
    assert.ok(await isPaused())
    const watch = w.newFeed()
    await watch.watchClock()
    assert.ok(await isPaused(), 'a start keeps it')
    w.clock.jump(-8 * HOUR)
    await watch.watchClock()
    assert.ok(!(await isPaused()))
  })

  test('a restored database sends nothing by itself, and what follows is sent', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    await w.emit('o1')
    await w.fanOut()
    await w.emit('o2')
    await w.store.write(async (tx) => {
      await interruptDeliveries(tx, w.clock.now(), await continueNumbers(tx, w.clock.now()))
    })
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls), [])
    assert.deepEqual(await w.statuses(id), ['failed 0'])
    await w.emit('o3')
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls), ['o3'])
    const since = 0
    await w.webhooks.recover(id, { since, place: await w.webhooks.placeBefore(id, since) }, 'ada')
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls).toSorted(), ['o1', 'o2', 'o3'])
  })

  test('410 disables at once; recover sends what has failed and what has happened meanwhile', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    const since = w.clock.now()
    await w.emit('o0')
    await w.turn(id)
    w.respond(() => answer(410))
    await w.emit('o1')
    await w.turn(id)
    const disabled = await w.webhooks.get(id)
    assert.deepEqual([disabled.enabled, disabled.disabledReason], [false, 'gone'])
    assert.deepEqual(w.alerts, [`webhook.disabled:${id} ERROR`])
    assert.deepEqual(w.audited, ['disableWebhook'])
    w.clock.advance(HOUR)
    await w.emit('o2')
    await w.turn(id)
    w.respond(() => OK)
    await assert.rejects(w.webhooks.test(id, 'ada'), (error: AppError) => error.code === 'webhook_disabled')
    await w.enable(id)
    assert.deepEqual(w.alerts.slice(1), [`webhook.disabled:${id} CLOSE`])
    await w.emit('o3')
    w.calls.length = 0
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls), ['o3'])
    await w.webhooks.recover(id, { since, place: await w.webhooks.placeBefore(id, since) }, 'ada')
    w.calls.length = 0
    await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls).sort(), ['o1', 'o2'])
    assert.equal((await w.webhooks.get(id)).pending, 0)
  })

  test('recover enables a disabled webhook, and what it has missed comes before what is new', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    w.respond(() => answer(410))
    await w.emit('o1')
    await w.turn(id)
    const since = (await w.webhooks.get(id)).failingSince ?? 0
    assert.match(
      w.bodies[0] ?? '',
      new RegExp(
        `on one\\.example .*\nRepair it\\. This enables .*${id}/recover {"since":"${toRfc3339(since)}"}$`,
      ),
    )
    w.respond(() => OK)
    w.clock.advance(HOUR)
    await w.emit('o1')
    await w.emit('o2')
    w.calls.length = 0
    // A time after all of them: the log continues where it stopped.
    const now = w.clock.now()
    await w.webhooks.recover(id, { since, place: await w.webhooks.placeBefore(id, now) }, 'ada')
    await w.emit('o2')
    for (let turns = 0; turns < 3; turns++) await w.turn(id)
    assert.deepEqual(subjectsOf(w.calls), ['o1', 'o2', 'o1', 'o2'])
    assert.deepEqual(w.alerts.slice(1), [`webhook.disabled:${id} CLOSE`])
    const { enabled, disabledReason, updatedBy } = await w.webhooks.get(id)
    assert.deepEqual([enabled, disabledReason, updatedBy], [true, null, 'ada'])
  })

  test('an endpoint that fails for 5 days without a success is disabled', async () => {
    await using w = await world(dialect)
    w.respond(() => ({ failure: 'timeout' }))
    const { id } = await w.create()
    for (let hours = 0; hours < 120; hours += 12) {
      await w.emit(`o${hours}`)
      await w.turn(id)
      w.clock.advance(12 * HOUR)
    }
    assert.equal((await w.webhooks.get(id)).enabled, true)
    await w.emit('last')
    await w.turn(id)
    assert.equal((await w.webhooks.get(id)).disabledReason, 'failing')
    await w.webhooks.remove(id, 'ada', undefined)
    assert.deepEqual(w.alerts, [`webhook.disabled:${id} ERROR`, `webhook.disabled:${id} CLOSE`])
  })

  test('one success keeps an endpoint enabled', async () => {
    await using w = await world(dialect)
    w.respond(({ body }) => (body.includes('good') ? OK : answer(500)))
    const { id } = await w.create()
    for (let days = 0; days < 8; days++) {
      await w.emit(days === 4 ? 'good' : `o${days}`)
      await w.turn(id)
      w.clock.advance(DAY)
    }
    assert.equal((await w.webhooks.get(id)).enabled, true)
  })

  test('an event that the log has no more fails, and says nothing about the endpoint', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    await w.emit('o1')
    await w.fanOut()
    const pending = await w.messages.pending(10, [])
    await w.messages.settle({ delivered: pending, failed: [], refused: [] })
    await w.emit('later')
    await w.messages.prune(w.clock.now() + 1, 10)
    await w.deliver(id)
    const [removed] = (await w.webhooks.deliveries(id, 'failed', { limit: 1 })).items
    assert.equal(removed?.error, 'event_removed')
    assert.equal((await w.webhooks.get(id)).failingSince, null)
  })

  test('after a rotation both secrets sign, for a day', async () => {
    await using w = await world(dialect)
    const created = await w.create()
    const rotated = await w.webhooks.rotate(created.id, 'ada', undefined)
    assert.notEqual(rotated.secret.reveal(), created.secret.reveal())
    const signatures = async () => {
      await w.webhooks.test(created.id, 'ada')
      await w.deliver(created.id)
      return w.calls.at(-1)?.headers['webhook-signature']?.split(' ').length
    }
    assert.equal(await signatures(), 2)
    w.clock.advance(DAY)
    assert.equal(await signatures(), 1)
  })

  test('a delivery is sent again with the same id', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    await w.emit('o1')
    await w.turn(id)
    const [sent] = (await w.webhooks.deliveries(id, 'delivered', { limit: 1 })).items
    assert.ok(sent)
    await w.webhooks.redeliver(id, sent.id, 'ada')
    await w.deliver(id)
    assert.equal(w.calls.length, 2)
    assert.equal(w.calls[0]?.headers['webhook-id'], w.calls[1]?.headers['webhook-id'])
    await assert.rejects(
      w.webhooks.redeliver(id, 'none', 'ada'),
      (error: AppError) => error.code === 'delivery_not_found',
    )
  })

  test('the deliveries of a deleted webhook, and old ones, are removed', async () => {
    await using w = await world(dialect)
    const [kept, gone] = [await w.create(), await w.create()]
    await w.emit('o1')
    await w.turn(kept.id)
    await w.deliver(gone.id)
    await w.webhooks.remove(gone.id, 'ada', undefined)
    assert.equal(await w.webhooks.prune(10), 1)
    assert.equal(await w.webhooks.prune(10), 0)
    w.clock.advance(KEEP_MS + SECOND)
    assert.equal(await w.webhooks.prune(10), 1)
    assert.deepEqual(await w.statuses(kept.id), [])
  })

  test('an edit with another version is refused; the same again changes nothing', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    const edit = (description: string, versions?: number[]) =>
      w.webhooks.edit(id, { description }, 'eve', { versions, place: 0 })
    assert.equal((await edit('x', [1])).version, 2)
    assert.equal((await edit('x', [2])).version, 2)
    await assert.rejects(edit('y', [1]), (error: AppError) => error.code === 'precondition_failed')
  })

  test('healthy endpoints get every event in the order of its thing, whatever others do and however often the worker dies', async (t) => {
    await using w = await world(dialect)
    await runModel(t, w)
  })
})

/** Endpoints that misbehave, and a worker that is killed in the middle of calls. */
async function runModel(t: TestContext, w: World): Promise<void> {
  const chance = chanceOf(t)
  const behaviours = {
    healthy: () => OK,
    flaky: () => (chance.number() < 0.2 ? answer(500) : OK),
    busy: () => (chance.number() < 0.3 ? answer(503, SECOND) : OK),
    redirects: () => answer(302),
    refuses: (): CallResult => ({ failure: 'connection_refused' }),
    hangs: (signal: AbortSignal) =>
      new Promise<CallResult>((resolve) => {
        if (signal.aborted) resolve({ failure: 'timeout' })
        signal.addEventListener('abort', () => resolve({ failure: 'timeout' }), { once: true })
      }),
  }
  type Name = keyof typeof behaviours
  const names = Object.keys(behaviours) as Name[]
  const received = new Map<Name, string[]>()
  w.respond(async ({ url, body }, signal) => {
    const name = new URL(url).pathname.slice(1) as Name
    const result = await behaviours[name](signal)
    const { subject, type } = JSON.parse(body) as { subject: string; type: string }
    if (!('failure' in result) && result.status === 200)
      received.set(name, [...(received.get(name) ?? []), `${subject} ${type}`])
    return result
  })
  const created = await Promise.all(names.map((name) => w.create({ url: `https://e.example/${name}` })))
  const ids = new Map(names.map((name, index) => [name, created[index]?.id ?? '']))
  const counts = new Map<string, number>()
  const emitSome = async () => {
    for (let i = chance.between(1, 8); i > 0; i--) {
      const thing = chance.pick(['a', 'b', 'c'])
      const count = (counts.get(thing) ?? 0) + 1
      counts.set(thing, count)
      await w.emit(thing, `order.${count}`)
    }
  }
  for (let step = 0; step < 25; step++) {
    await emitSome()
    await w.fanOut()
    const kill = new AbortController()
    const working = names.map((name) => w.deliver(ids.get(name) ?? '', kill.signal))
    // Those that hang never end by themselves; the others are done, or killed in the middle.
    if (chance.number() < 0.5) await Promise.all(working.slice(0, 5))
    kill.abort()
    await Promise.all(working)
    w.clock.advance(chance.pick([SECOND, 5 * SECOND, 5 * MINUTE, HOUR]))
  }
  for (let isPending = true; isPending;) {
    isPending = false
    await w.fanOut()
    for (const name of ['healthy', 'flaky', 'busy'] as const) {
      await w.deliver(ids.get(name) ?? '')
      isPending = (await w.webhooks.get(ids.get(name) ?? '')).pending > 0 || isPending
    }
    w.clock.advance(HOUR)
  }
  for (const name of ['healthy', 'flaky', 'busy'] as const) {
    const firsts = [...new Set(received.get(name))]
    for (const [thing, count] of counts) {
      const own = firsts.filter((each) => each.startsWith(`${thing} `))
      const expected = Array.from({ length: count }, (_, index) => `${thing} order.${index + 1}`)
      assert.deepEqual(own, expected, `${name} ${thing}`)
    }
  }
}

test('a message of a user is sent as an event of the platform’s messages, unless it is one of another source', () => {
  const message = { id: 'm1', subject: 'shop.sold', place: 1, createdAt: 0, trace: null, isEvent: false }
  const plain = sentEventOf({ ...message, payload: '{"sold":3}' })
  assert.deepEqual(JSON.parse(plain.body), {
    specversion: '1.0',
    id: 'm1',
    source: '/platform/messages',
    type: 'shop.sold',
    subject: 'shop.sold',
    time: '1970-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    data: { sold: 3 },
  })
  const own = { specversion: '1.0', id: 'own-1', source: '/shop', type: 'sold' }
  const sent = sentEventOf({ ...message, payload: JSON.stringify(own) })
  assert.deepEqual([sent.eventId, JSON.parse(sent.body)], ['own-1', own])
  const forged = sentEventOf({ ...message, payload: JSON.stringify({ ...own, source: '/platform/orders' }) })
  assert.equal((JSON.parse(forged.body) as { source: string }).source, '/platform/messages')
  const unsafe = sentEventOf({ ...message, payload: JSON.stringify({ ...own, id: 'a\r\nb' }) })
  assert.equal(unsafe.eventId, 'm1')
})
