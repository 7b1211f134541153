import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { connect } from '@nats-io/transport-node'
import { eventually } from '../support/eventually.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startNats } from '../support/nats.ts'
import { callPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const HEADERS = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' }
const OF_TRACE = new RegExp(`^00-${TRACE}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`)

interface Call {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The names of the spans of {@link TRACE} that a collector gets. */
function spanNames(body: string): string[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: { name: string; traceId: string }[] }[] }[]
  }
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    .flatMap(({ name, traceId }) => (traceId === TRACE ? [name] : []))
}

/** A platform with a bus, an endpoint that takes every call, and a command. */
async function openWorld(t: TestContext) {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const calls: Call[] = []
  const spans: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/v1/traces') spans.push(...spanNames(body))
      else calls.push({ path: request.url ?? '', headers: request.headers, body })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.defer(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(
    join(dataDir, 'platform.toml'),
    `[telemetry]
otlp_endpoint = "${endpoint}"
[commands.show]
run = ["sh", "-c", "echo $TRACEPARENT $TRACESTATE"]
[receivers.pager]
kind = "webhook"
url = "${endpoint}/pager"
secret = "whsec_${Buffer.alloc(32, 'k').toString('base64')}"
[[alerts.routes]]
name = "all"
receivers = ["pager"]
[webhooks]
allow_private = ["127.0.0.0/8"]
`,
  )
  const platform = scope.use(await servePlatform({ dataDir, env: { BUS_SERVER: nats.url } }))
  return { scope, platform, nats, calls, spans, endpoint }
}

test('the trace of a request reaches everything that the request sets off', async (t) => {
  const { scope, platform, nats, calls, spans, endpoint } = await openWorld(t)
  const bus = await connect({ servers: nats.url })
  scope.defer(() => bus.close())
  const onBus = new Map<string, { headers: (string | undefined)[]; payload: string }>()
  bus.subscribe('>', {
    callback: (_error, message) => {
      const headers = ['traceparent', 'tracestate'].map((name) => message.headers?.get(name))
      onBus.set(message.subject, { headers, payload: message.string() })
    },
  })
  await bus.flush()
  const hook = { url: `${endpoint}/hook`, subjects: ['order.*', 'shop.opened'] }
  assert.equal((await platform.call('POST', '/webhooks', { body: hook })).status, 201)
  const stream = await openEventStream(platform.url, '/events?subjects=order.*')
  scope.use(stream)

  const post = async (path: string, body: object) => {
    const response = await callPlatform(platform.url, 'POST', path, { body, headers: HEADERS })
    assert.ok(response.ok, `${path}: ${response.status}`)
    return (await response.json()) as { id: string }
  }
  await post('/orders', { order_id: 'o-1', platform: 'live', amount_cents: 1 })
  await post('/messages/publish', { subject: 'shop.opened', payload: { door: 1 } })
  await post('/alerts/report', { alarm_id: 'a', source: 's', title: 't', body: 'b', level: 'ERROR' })
  const { id } = await post('/commands/show/execute', {})

  const isOfTrace = (headers: readonly unknown[]) =>
    assert.deepEqual([OF_TRACE.test(String(headers[0])), headers[1]], [true, 'vendor=1'], String(headers[0]))
  for (const subject of ['order.created', 'shop.opened']) {
    const { headers } = await eventually(`${subject} on the bus`, () => onBus.get(subject))
    isOfTrace(headers)
  }
  const event = JSON.parse(onBus.get('order.created')?.payload ?? '') as Record<string, unknown>
  isOfTrace([event['traceparent'], event['tracestate']])
  const [streamed] = await stream.count(1)
  assert.deepEqual(JSON.parse(streamed?.data ?? ''), event)
  await eventually('both webhooks', () => calls.filter(({ path }) => path === '/hook').length === 2)
  await eventually('the receiver', () => calls.some(({ path }) => path === '/pager'))
  for (const { headers, body } of calls) {
    isOfTrace([headers['traceparent'], headers['tracestate']])
    const sent = JSON.parse(body) as Record<string, unknown>
    isOfTrace([sent['traceparent'], sent['tracestate']])
  }
  const execution = await eventually('the command has ended', async () => {
    const answer = await platform.call('GET', `/commands/executions/${id}`)
    const shown = (await answer.json()) as { status: string; output: string }
    return shown.status === 'succeeded' ? shown : undefined
  })
  isOfTrace(execution.output.trim().split(' '))
  const linesOfTrace = () => platform.logs().filter((line) => line['trace_id'] === TRACE)
  const routes = () =>
    linesOfTrace()
      .filter(({ message }) => message === 'request')
      .map((line) => line['route'])
  // The log reaches the reader after the responses.
  await eventually('the line of the last request', () => routes().includes('/commands/:id/execute'))
  assert.deepEqual(routes(), ['/orders', '/messages/publish', '/alerts/report', '/commands/:id/execute'])
  const lines = linesOfTrace()
  assert.ok(lines.some(({ message }) => message !== 'request'))

  const wanted = [
    'POST /orders',
    'POST /messages/publish',
    'publish order.created',
    'transaction',
    'webhook',
    'work alert-notifications-pager',
    'work commands',
  ]
  await eventually('the collector has the spans', () => wanted.every((name) => spans.includes(name)))

  // An invalid one is replaced, and its state is dropped.
  for (const order_id of ['o-2', 'o-3'])
    await platform.call('POST', '/orders', {
      body: { order_id, platform: 'live', amount_cents: 1 },
      headers: { ...HEADERS, traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    })
  const answer = await platform.call('GET', '/messages?subject=order.created&limit=2')
  const { items } = (await answer.json()) as { items: { payload: Record<string, string> }[] }
  const traces = items.map(({ payload }) => payload['traceparent']?.split('-')[1])
  assert.equal(new Set([TRACE, '0'.repeat(32), ...traces]).size, 4)
  assert.ok(items.every(({ payload }) => payload['tracestate'] === undefined))
})
