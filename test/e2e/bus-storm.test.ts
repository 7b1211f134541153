import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { listenTo, readStream, type Arrival } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats, type NatsServer } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { chanceOf, type Chance } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'

// reliability, R-5: a short form for each commit; more troubles by hand or by night.
const TROUBLES = Number(process.env['BUS_TROUBLES'] ?? 20)
// Longer than a publish waits for its confirmation, shorter than the silence that ends a connection.
const LONG_PAUSE_MS = 6_000
const LONG_PAUSE_EVERY = 10
const DRAIN_MS = 10_000

interface MessageAnswer {
  readonly id: string
  readonly subject: string
  readonly status: string
  readonly payload: unknown
}

/** A platform with its bus, and the clients that write. */
async function world(t: TestContext, jetstream: boolean) {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory())
  const nats = await startNats({ jetstream })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['order.>', 'telemetry.>']))
  const platform = scope.use(await servePlatform({ dataDir: directory.path, env: { BUS_SERVER: nats.url } }))
  return { nats, listener, platform, producers: startProducers(platform) }
}

/** One producer for each subject: it sends the next number when the last one was acknowledged. */
function startProducers(platform: ServedPlatform) {
  let stopping = false
  const produce = async (send: (number: number) => Promise<Response>, expected: number) => {
    let number = 0
    while (!stopping) {
      const answer = await send(number + 1)
      assert.equal(answer.status, expected, await answer.text())
      number += 1
      await pause(4)
    }
    return number
  }
  const order = (number: number) =>
    platform.call('POST', '/orders', {
      body: { order_id: String(number), platform: 'storm', amount_cents: 1 },
    })
  const publish = (subject: string) => (payload: number) =>
    platform.call('POST', '/messages/publish', { body: { subject, payload } })
  const running = Promise.all([
    produce(order, 201),
    produce(publish('telemetry.agent.a'), 202),
    produce(publish('telemetry.agent.b'), 202),
  ])
  return {
    async stop(): Promise<Readonly<Record<string, number>>> {
      stopping = true
      const [orders, a, b] = await running
      return { 'order.created': orders, 'telemetry.agent.a': a, 'telemetry.agent.b': b }
    },
  }
}

/** Kills and pauses the bus, with a moment of rest after each. */
async function disturb(nats: NatsServer, chance: Chance, afterEach: (trouble: number) => Promise<void>) {
  for (let trouble = 1; trouble <= TROUBLES; trouble++) {
    if (trouble % LONG_PAUSE_EVERY === 0) await hold(nats, LONG_PAUSE_MS)
    else if (chance.number() < 0.5) await hold(nats, chance.between(50, 1_000))
    else await killFor(nats, chance.between(0, 400))
    await afterEach(trouble)
    await pause(chance.between(100, 600))
  }
}

async function hold(nats: NatsServer, milliseconds: number): Promise<void> {
  nats.pause()
  await pause(milliseconds)
  nats.resume()
}

async function killFor(nats: NatsServer, milliseconds: number): Promise<void> {
  await nats.kill()
  await pause(milliseconds)
  await nats.restart()
}

async function messages(platform: ServedPlatform, query: string): Promise<MessageAnswer[]> {
  const answer = await platform.call('GET', `/messages?${query}`)
  return ((await answer.json()) as { items: MessageAnswer[] }).items
}

/** What waits now has gone out soon after the bus is back, though more comes in. */
async function requireDrained(platform: ServedPlatform): Promise<void> {
  const [newest] = await messages(platform, 'limit=1')
  await eventually(
    'what waited for the bus to be delivered',
    async () => {
      const answer = await platform.call('GET', `/messages/${newest?.id}`)
      return ((await answer.json()) as MessageAnswer).status === 'delivered'
    },
    { timeoutMs: DRAIN_MS },
  )
}

async function storm(t: TestContext, jetstream: boolean) {
  const chance = chanceOf(t)
  const { nats, listener, platform, producers } = await world(t, jetstream)
  await disturb(nats, chance, async (trouble) => {
    if (trouble % LONG_PAUSE_EVERY === 0) await requireDrained(platform)
  })
  const sent = await producers.stop()
  t.diagnostic(`sent ${JSON.stringify(sent)}`)
  await eventually(
    'the outbox to be empty',
    async () => (await messages(platform, 'status=pending&limit=1')).length === 0,
    { timeoutMs: DRAIN_MS },
  )
  assert.deepEqual(await messages(platform, 'status=dead'), [])
  for (const [subject, count] of Object.entries(sent))
    assert.ok(count > TROUBLES, `${count} of ${subject}: no load`)
  return { nats, listener, sent }
}

function numberIn({ subject, payload }: Arrival): number {
  const body = JSON.parse(payload) as number | { subject: string }
  return subject === 'order.created' ? Number((body as { subject: string }).subject) : (body as number)
}

function numbersOn(subject: string, arrivals: readonly Arrival[]): number[] {
  return arrivals.filter((arrival) => arrival.subject === subject).map(numberIn)
}

describe(`${TROUBLES} kills and pauses of the bus under load`, { concurrency: 2 }, () => {
  test('with JetStream, the stream has every message once and in order', async (t) => {
    const { nats, sent } = await storm(t, true)
    const stored = await readStream(nats.url, 'PLATFORM')
    assert.equal(new Set(stored.map(({ id }) => id)).size, stored.length, 'no repetition is stored')
    for (const [subject, count] of Object.entries(sent)) {
      const numbers = numbersOn(subject, stored)
      const wrong = numbers.findIndex((number, index) => number !== index + 1)
      assert.equal(wrong, -1, `${subject}: ${numbers.slice(Math.max(0, wrong - 5), wrong + 5).join(' ')}`)
      assert.equal(numbers.length, count, `${subject} is complete`)
    }
  })

  // A bus that stores nothing forgets with its life what a receiver had not taken yet, confirmed or not. What can be
  // promised is what holds within one life of the server and its listener: nobody is skipped. A number is followed by
  // the next one, or by a repetition from further back, since what was not confirmed is sent again as a whole.
  test('without JetStream, no listener misses a message between two that it got in one connection', async (t) => {
    const { listener, sent } = await storm(t, false)
    for (const [subject, count] of Object.entries(sent)) {
      const heard = new Set<number>()
      for (const life of listener.lives) {
        let highest: number | undefined
        for (const number of numbersOn(subject, life)) {
          assert.ok(
            highest === undefined || number <= highest + 1,
            `${subject}: ${number} came after ${highest}`,
          )
          highest = Math.max(number, highest ?? 0)
          heard.add(number)
        }
      }
      t.diagnostic(`${heard.size} of ${count} messages on ${subject} were heard`)
      assert.ok(heard.size > count / 2, `only ${heard.size} of ${count} messages on ${subject} were heard`)
    }
    assert.ok(listener.lives.length > 1, 'the bus never died')
  })
})
