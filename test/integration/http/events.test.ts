import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { openEventStream, type EventStreamClient } from '../../support/event-stream.ts'
import { assertRefused, openApi } from './client.ts'
import { logInFirstAdmin, signIn } from './tokens.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const { url } = api.platform
const as = (roles: string) => ({ 'x-user-id': 'tester', 'x-user-roles': roles })

async function createOrder(): Promise<string> {
  const id = `order-${randomUUID()}`
  const body = { order_id: id, platform: 'live', amount_cents: 1 }
  assert.equal((await api.send({ method: 'POST', path: '/orders', body })).status, 201)
  return id
}

const publish = (subject: string, payload: unknown, headers?: Record<string, string>) =>
  api.send({
    method: 'POST',
    path: '/messages/publish',
    body: { subject, payload, ...(headers && { headers }) },
  })

async function listMessages(subject: string) {
  const answer = await api.send({ method: 'GET', path: `/messages?subject=${subject}&limit=1` })
  const { items } = answer.json() as { items: { id: string; payload: unknown }[] }
  return items
}

function orderOf({ data }: { readonly data: string }): string {
  return (JSON.parse(data) as { subject: string }).subject
}

async function streamedOrders(stream: EventStreamClient, count: number): Promise<string[]> {
  return (await stream.count(count)).map(orderOf)
}

async function metric(name: string): Promise<number> {
  const { text } = await api.send({ method: 'GET', path: '/metrics' })
  const value = text.split('\n').find((line) => line.startsWith(`${name} `))
  return Number(value?.slice(name.length))
}

describe('GET /events', () => {
  test('an event is sent once it is committed, as it is sent on the bus, without a bus', async () => {
    using stream = await openEventStream(url, '/events?subjects=order.*')
    assert.equal(stream.status, 200)
    assert.match(String(stream.headers['content-type']), /^text\/event-stream/)
    assert.equal(stream.headers['cache-control'], 'no-store')
    assert.ok(stream.headers['x-request-id'])
    const order = await createOrder()
    const [event] = await stream.count(1)
    const [message] = await listMessages('order.created')
    assert.equal(event?.event, 'order.created')
    assert.match(String(event?.id), /^\d+$/)
    assert.deepEqual(JSON.parse(String(event?.data)), message?.payload)
    assert.equal(event && orderOf(event), order)
  })

  test('telemetry is streamed item by item, beside the other events, and resumes in both', async () => {
    using stream = await openEventStream(url, '/events?subjects=telemetry.agent.*,order.*')
    const agent = `agent-${randomUUID()}`
    const items = [{ data: { n: 0 } }, { data: { n: 1 } }, { data: { n: 2 } }]
    const body = { agent_id: agent, items }
    assert.equal((await api.send({ method: 'POST', path: '/api/v1/telemetry', body })).status, 202)
    const seen = await stream.count(3)
    assert.deepEqual(
      seen.map(({ event }) => event),
      items.map(() => `telemetry.agent.${agent}`),
    )
    const numbers = seen.map(
      ({ data }) => (JSON.parse(data) as { data: { data: { n: number } } }).data.data.n,
    )
    assert.deepEqual(numbers, [0, 1, 2])
    const order = await createOrder()
    using resumed = await openEventStream(url, '/events?subjects=telemetry.agent.*,order.*', {
      lastEventId: seen[1]?.id,
    })
    const rest = await resumed.count(2)
    assert.deepEqual(rest.map(({ event }) => event).toSorted(), ['order.created', `telemetry.agent.${agent}`])
    assert.ok(rest.map(orderOf).includes(order))
  })

  test('the stream begins now, and resumes behind the last event', async () => {
    using before = await openEventStream(url, '/events?subjects=order.*')
    const first = await createOrder()
    const [event] = await before.count(1)
    const second = await createOrder()
    const third = await createOrder()
    using now = await openEventStream(url, '/events?subjects=order.*')
    using resumed = await openEventStream(url, '/events?subjects=order.*', { lastEventId: event?.id })
    assert.deepEqual(await streamedOrders(resumed, 2), [second, third])
    const fourth = await createOrder()
    assert.deepEqual(await streamedOrders(now, 1), [fourth])
    assert.deepEqual(await streamedOrders(before, 4), [first, second, third, fourth])
    assert.deepEqual(await streamedOrders(resumed, 3), [second, third, fourth])
  })

  test('a client that has seen no event resumes by the id that the stream begins with', async () => {
    using stream = await openEventStream(url, '/events?subjects=order.*')
    const id = await eventually('an id', () => stream.lastEventId)
    const order = await createOrder()
    using resumed = await openEventStream(url, '/events?subjects=order.*', { lastEventId: id })
    assert.deepEqual(await streamedOrders(resumed, 1), [order])
  })

  for (const lastEventId of ['x', '-1', '1.5', '1-2-3', '99999999', '9'.repeat(30), ' ,']) {
    test(`Last-Event-ID ${lastEventId} is no place: one event reset, then the stream goes on`, async () => {
      using stream = await openEventStream(url, '/events', { lastEventId })
      const [reset] = await stream.count(1)
      assert.equal(reset?.event, 'reset')
      const order = await createOrder()
      const events = await stream.count(2)
      assert.deepEqual([events[1]?.event, events[1] && orderOf(events[1])], ['order.created', order])
    })
  }

  test('messages of users are no events, also with the subject and the headers of one', async () => {
    using stream = await openEventStream(url)
    await publish('shop.opened', {})
    await publish(
      'order.created',
      { id: 'forged' },
      {
        'content-type': 'application/cloudevents+json; charset=utf-8',
      },
    )
    const order = await createOrder()
    assert.deepEqual(await streamedOrders(stream, 1), [order])
    using late = await openEventStream(url)
    await publish('shop.opened', {})
    using later = await openEventStream(url)
    const next = await createOrder()
    for (const each of [late, later]) assert.deepEqual(await streamedOrders(each, 1), [next])
  })

  test('subjects select the events', async () => {
    using exact = await openEventStream(url, '/events?subjects=order.paid')
    using both = await openEventStream(url, '/events?subjects=order.pa*,order.created')
    const order = await createOrder()
    await api.send({ method: 'PUT', path: `/orders/${order}`, body: { status: 'paid' } })
    const subjects = async (stream: EventStreamClient, count: number) =>
      (await stream.count(count)).map(({ event }) => event)
    assert.deepEqual(await subjects(both, 2), ['order.created', 'order.paid'])
    assert.deepEqual(await subjects(exact, 1), ['order.paid'])
  })

  for (const subjects of [
    '',
    ',',
    'order.*,',
    'order.*.x',
    '*.paid',
    'order paid',
    'ö',
    'shop.opened',
    'order',
    'order.paid,x*',
  ])
    test(`subjects=${subjects} is 400`, async () => {
      const path = `/events?subjects=${encodeURIComponent(subjects)}`
      assertRefused(await api.send({ method: 'GET', path }), 400, 'validation_failed', 'subjects')
    })

  for (const [roles, subjects] of [
    ['auditor', 'order.*'],
    ['auditor', 'alert.*,order.paid'],
    ['auditor', '*'],
    ['service', 'vpn.audit.*'],
    ['service', 'v*'],
    ['service', 'silence.*'],
    ['service', 'alert.*,silence.created'],
  ] as const) {
    test(`${subjects} with the role ${roles} is 403`, async () => {
      const answer = await api.send({
        method: 'GET',
        path: `/events?subjects=${subjects}`,
        headers: as(roles),
      })
      assertRefused(answer, 403, 'forbidden')
    })
  }

  test('the readers of the silences get their events', async () => {
    using stream = await openEventStream(url, '/events?subjects=silence.*', { headers: as('auditor') })
    const ends_at = new Date(Date.now() + 60_000).toISOString()
    const body = { matchers: { source: 'none' }, reason: 'A test', ends_at }
    assert.equal((await api.send({ method: 'POST', path: '/alerts/silences', body })).status, 201)
    assert.deepEqual(
      (await stream.count(1)).map(({ event }) => event),
      ['silence.created'],
    )
  })

  test('without subjects a caller gets all events that it may read', async () => {
    using stream = await openEventStream(url, '/events', { headers: as('auditor') })
    await createOrder()
    const body = { source: 'test', title: 'A test', level: 'ERROR' }
    await api.send({ method: 'POST', path: '/alerts/report', body })
    assert.deepEqual(
      (await stream.count(1)).map(({ event }) => event),
      ['alert.raised'],
    )
  })

  test('HEAD is answered without a body', async () => {
    const answer = await api.send({ method: 'HEAD', path: '/events' })
    assert.deepEqual([answer.status, answer.text], [200, ''])
    assert.match(String(answer.headers['content-type']), /^text\/event-stream/)
  })

  test('an open stream is counted, and is logged when its client has left', async () => {
    const requestId = randomUUID()
    const stream = await openEventStream(url, '/events', {
      headers: { ...as('admin'), 'x-request-id': requestId },
    })
    await eventually('an open stream', async () => (await metric('platform_event_streams')) >= 1)
    stream[Symbol.dispose]()
    await eventually('no open stream', async () => (await metric('platform_event_streams')) === 0)
    const line = await eventually('a log line', () =>
      api.platform.logs().find((each) => each['request_id'] === requestId),
    )
    assert.deepEqual([line['route'], line['status'], line['caller']], ['/events', 200, 'tester'])
  })

  test('the stream after a thousand is 503, until another one ends', async () => {
    await using other = await openApi()
    const open = () => openEventStream(other.platform.url)
    const streams: EventStreamClient[] = []
    while (streams.length < 1_000) streams.push(...(await Promise.all(Array.from({ length: 50 }, open))))
    assert.ok(streams.every(({ status }) => status === 200))
    const refused = await open()
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5'])
    assert.match(await refused.ended, /"code":"too_many_streams"/)
    streams[0]?.[Symbol.dispose]()
    const next = await eventually('a stream', async () => {
      const stream = await open()
      return stream.status === 200 ? stream : undefined
    })
    for (const stream of [...streams, next]) stream[Symbol.dispose]()
  })

  test('a client that does not read is disconnected, and resumes without a gap', async () => {
    using slow = await openEventStream(url, '/events?subjects=alert.raised')
    const begin = await eventually('the id that the stream begins with', () => slow.lastEventId)
    slow.pause()
    const dropped = 'platform_event_streams_ended_total{reason="slow"}'
    const report = (index: number) =>
      api.send({
        method: 'POST',
        path: '/alerts/report',
        body: { source: 'slow', title: `Alert ${index}`, level: 'ERROR', body: 'x'.repeat(16_000) },
      })
    let reports = 0
    while ((await metric(dropped)) === 0) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => report(reports++)))
      assert.ok(answers.every(({ status }) => status === 201))
    }
    // Not open meanwhile: on a busy machine it could be slow too.
    using other = await openEventStream(url, '/events?subjects=alert.raised', { lastEventId: begin })
    const events = await other.count(reports)
    const { lastEventId } = slow
    using resumed = await openEventStream(url, '/events?subjects=alert.raised', { lastEventId })
    const missed = events.filter(({ id }) => Number(id) > Number(lastEventId))
    const caughtUp = await resumed.count(missed.length)
    assert.deepEqual(
      caughtUp.map(({ id }) => id),
      missed.map(({ id }) => id),
    )
  })

  test('a stream ends with its token', async () => {
    await using brief = await openApi({ TOKEN_TTL: '5s' })
    // On a slow machine a token may be over before the stream begins.
    const stream = await eventually('a stream', async () => {
      const { token } = await logInFirstAdmin(brief)
      const opened = await openEventStream(brief.platform.url, '/events', {
        headers: { authorization: `Bearer ${token}` },
      })
      return opened.status === 200 ? opened : undefined
    })
    assert.match(await stream.ended, /^:\nid: /)
  })

  test('a stream ends when its user is disabled', async () => {
    const user = await signIn(api, ['auditor'])
    const headers = { authorization: `Bearer ${user.token}` }
    using stream = await openEventStream(url, '/events', { headers })
    assert.equal(stream.status, 200)
    await api.send({ method: 'PATCH', path: `/users/${user.id}`, body: { enabled: false } })
    await stream.ended
  })

  test('a stream through the gateway has the events, and ends with its token', async () => {
    const user = await signIn(api, ['admin'])
    const headers = { authorization: `Bearer ${user.token}` }
    using stream = await openEventStream(api.platform.gatewayUrl, '/events', { headers })
    assert.equal(stream.status, 200)
    await createOrder()
    await stream.count(1)
    await api.send({ method: 'PATCH', path: `/users/${user.id}`, body: { enabled: false } })
    await stream.ended
  })
})
