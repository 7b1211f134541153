import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { freePort } from '../../../test/support/loopback.ts'
import { isRecording, newTrace, receivedTrace, recordSpan, runInPart, runInSpan } from '../../kernel/trace.ts'
import { openSpanExport } from './span-export.ts'

const RESOURCE = { 'service.name': 'platform' }

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: object }[] }
    readonly scopeSpans: readonly { readonly spans: readonly Record<string, unknown>[] }[]
  }[]
}

async function collector(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a collector gets the spans with their ids, parents, kinds and failures', async (t) => {
  const bodies: Received[] = []
  const endpoint = await collector(t, (request, response) => {
    void text(request).then((body) => {
      assert.equal(request.url, '/base/v1/traces')
      bodies.push(JSON.parse(body) as Received)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  const spans = openSpanExport({ endpoint: `${endpoint}/base/`, resource: RESOURCE })
  assert.equal(newTrace().isSampled, true)
  const parent = '00f067aa0ba902b7'
  const trace = receivedTrace({ traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${parent}-01` })
  const fail = async () => {
    throw new Error('no room')
  }
  const work = () => runInPart({ name: 'transaction', kind: 'internal' }, fail)
  await assert.rejects(runInSpan(trace, { name: 'GET /orders', kind: 'server', attributes: { a: 1 } }, work))
  const unsampled = receivedTrace({ traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${parent}-00` })
  await runInSpan(unsampled, { name: 'hidden', kind: 'server' }, async () => undefined)
  await spans[Symbol.asyncDispose]()
  assert.equal(isRecording(), false)
  const [resource] = bodies.flatMap(({ resourceSpans }) => resourceSpans)
  assert.deepEqual(resource?.resource.attributes, [
    { key: 'service.name', value: { stringValue: 'platform' } },
  ])
  const sent = resource.scopeSpans.flatMap((scope) => scope.spans)
  assert.deepEqual(
    sent.map((each) => [each['name'], each['traceId'], each['parentSpanId'], each['kind']]),
    [
      ['transaction', trace.traceId, trace.spanId, 1],
      ['GET /orders', trace.traceId, parent, 2],
    ],
  )
  assert.ok(sent.every((each) => (each['status'] as { code: number }).code === 2))
})

const span = () =>
  ({
    name: 'x',
    kind: 'internal',
    trace: newTrace(),
    durationMs: 1,
    attributes: {},
    isFailed: false,
  }) as const

test('a collector that hangs gets a few calls, and neither work nor the end waits for it', async (t) => {
  let calls = 0
  const endpoint = await collector(t, () => void calls++)
  const spans = openSpanExport({ endpoint, resource: RESOURCE })
  for (let count = 0; count < 20_000; count++) recordSpan(span())
  assert.equal(await runInSpan(newTrace(), { name: 'x', kind: 'internal' }, async () => 7), 7)
  await spans[Symbol.asyncDispose]()
  await eventually('it is called', () => calls > 0)
  assert.ok(calls <= 5, `${calls} calls`)
})

test('a collector that is away costs spans alone', async () => {
  const spans = openSpanExport({ endpoint: `http://127.0.0.1:${await freePort()}`, resource: RESOURCE })
  for (let count = 0; count < 1_000; count++) recordSpan(span())
  await spans[Symbol.asyncDispose]()
})
