import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { openEventStream } from '../support/event-stream.ts'
import { freePort, ownLoopback } from '../support/loopback.ts'
import { callPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { ResumingReader } from '../support/resuming-reader.ts'

// EVENT_READERS=1000 is the long form.
const READERS = Number(process.env['EVENT_READERS'] ?? 100)
const ROUNDS = 3
const ORDERS_A_ROUND = 20
const WITHIN = { timeoutMs: 120_000 }

/** Creates an order; repeats the call while the server is away. */
async function createOrder(url: string, id: string): Promise<void> {
  const body = { order_id: id, platform: 'live', amount_cents: 1 }
  await eventually(
    `the order ${id}`,
    async () => {
      const response = await callPlatform(url, 'POST', '/orders', { body })
      await response.arrayBuffer()
      return response.ok
    },
    WITHIN,
  )
}

function ordersOf(reader: ResumingReader): string[] {
  return reader.seen.map(({ data }) => (JSON.parse(data) as { subject: string }).subject)
}

test(`${READERS} readers resume without a gap or a repeat, over kills of readers and of the server`, async () => {
  await using stack = new AsyncDisposableStack()
  const data = stack.use(temporaryDirectory())
  const address = `${ownLoopback()}:${await freePort()}`
  const url = `http://${address}`
  const start = () =>
    servePlatform({
      dataDir: data.path,
      modules: 'api,worker',
      env: { LISTEN_ADDR: address, API_RATE_LIMIT: '0' },
    })
  let platform: ServedPlatform = await start()
  stack.defer(() => platform.kill())
  const readers = Array.from({ length: READERS }, () =>
    stack.use(new ResumingReader(url, '/events?subjects=order.created', { lastEventId: '0' })),
  )
  const wanted: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let index = 0; index < ORDERS_A_ROUND; index++) {
      const id = `order-${round}-${index}`
      await createOrder(url, id)
      wanted.push(id)
      readers[(index * 7 + round) % READERS]?.kill()
    }
    await platform.kill()
    platform = await start()
  }
  for (const reader of readers)
    await eventually('all events', () => reader.seen.length >= wanted.length, WITHIN)
  for (const reader of readers) {
    assert.deepEqual(ordersOf(reader), wanted)
    const ids = reader.seen.map(({ id }) => Number(id))
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    )
  }
  await platform.stop()
})

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`events of one process are streamed by another one on ${engine}`, async () => {
    await using stack = new AsyncDisposableStack()
    const data = stack.use(temporaryDirectory())
    const env: Record<string, string> = {}
    if (engine === 'postgres') {
      const database = await createTestDatabase()
      stack.defer(() => database.drop())
      env['DATABASE_URL'] = database.url
    }
    const serve = () => servePlatform({ dataDir: data.path, modules: 'api', env })
    const [one, other] = [stack.use(await serve()), stack.use(await serve())]
    using stream = await openEventStream(other.url, '/events?subjects=order.created')
    const ids = Array.from({ length: 20 }, (_, index) => `order-${index}`)
    await Promise.all(ids.map((id, index) => createOrder((index % 2 === 0 ? one : other).url, id)))
    const events = await stream.count(ids.length)
    const seen = events.map(({ data: text }) => (JSON.parse(text) as { subject: string }).subject)
    assert.deepEqual(seen.toSorted(), ids.toSorted())
    using resumed = await openEventStream(one.url, '/events?subjects=order.created', {
      lastEventId: events[4]?.id,
    })
    assert.deepEqual(await resumed.count(15), events.slice(5))
  })
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`readers of two processes on ${engine} get the same ids, with telemetry, also resumed after kills`, async () => {
    await using stack = new AsyncDisposableStack()
    const data = stack.use(temporaryDirectory())
    const env: Record<string, string> = { API_RATE_LIMIT: '0', TELEMETRY_RATE: '100000' }
    if (engine === 'postgres') {
      const database = await createTestDatabase()
      stack.defer(() => database.drop())
      env['DATABASE_URL'] = database.url
    }
    const serve = () => servePlatform({ dataDir: data.path, modules: 'api', env })
    const urls = [stack.use(await serve()).url, stack.use(await serve()).url]
    const path = '/events?subjects=order.created,telemetry.agent.*'
    const readers = urls.flatMap((url) =>
      Array.from({ length: 5 }, () => stack.use(new ResumingReader(url, path, { lastEventId: '0-0' }))),
    )
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const url = urls[index % 2] as string
        await createOrder(url, `order-${index}`)
        const items = [{ data: { index } }, { data: { index } }]
        const sent = await callPlatform(url, 'POST', '/api/v1/telemetry', {
          body: { agent_id: `agent-${index % 7}`, items },
        })
        assert.equal(sent.status, 202)
        readers[index % readers.length]?.kill()
      }),
    )
    for (const reader of readers) await eventually('all events', () => reader.seen.length >= 600, WITHIN)
    const [first, ...others] = readers.map(({ seen }) => seen)
    assert.equal(new Set(first?.map(({ id }) => id)).size, 600)
    for (const seen of others) assert.deepEqual(seen, first)
  })
}

test('a stream ends when the server stops, also for a client that does not read', async () => {
  await using stack = new AsyncDisposableStack()
  const data = stack.use(temporaryDirectory())
  const platform = stack.use(await servePlatform({ dataDir: data.path }))
  using stream = await openEventStream(platform.url)
  using paused = await openEventStream(platform.url)
  paused.pause()
  assert.equal(await platform.stop(), 0)
  await stream.ended
})
