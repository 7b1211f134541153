import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { listenTo, readStream, type Arrival } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats, type NatsServer } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

// Longer than a publish waits for its confirmation, shorter than the silence that ends a connection.
const LONG_PAUSE_MS = 6_000
const LONG_PAUSE_EVERY = 10
// reliability R-5 asks for 10 s on a machine of its own.
const DRAIN_MS = 30_000

export const busStorm: Scenario = {
  name: 'bus-storm',
  row: 'R-5',
  promise: 'a bus that dies and hangs again and again gets every message, in the order of its subject',
  unit: 'kills and pauses of the bus',
  rounds: { short: 20, full: 150 },
  parts: [
    { title: 'with JetStream, the stream has every message once and in order', share: 1, run: withStream },
    { title: 'without JetStream, no listener misses a message between two', share: 1, run: withoutStream },
  ],
}

interface MessageAnswer {
  readonly id: string
  readonly subject: string
  readonly status: string
  readonly payload: unknown
}

/** A platform with its bus, and the clients that write. */
async function openWorld({ scope }: Trial, jetstream: boolean) {
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
  // Whoever stops them hears of it.
  running.catch(() => undefined)
  return {
    async stop(): Promise<Readonly<Record<string, number>>> {
      stopping = true
      const [orders, a, b] = await running
      return { 'order.created': orders, 'telemetry.agent.a': a, 'telemetry.agent.b': b }
    },
  }
}

/** Kills and pauses the bus, with a moment of rest after each. */
async function disturb(
  { rounds, chance, signal, show }: Trial,
  nats: NatsServer,
  afterLongPause: () => Promise<void>,
): Promise<void> {
  for (let trouble = 1; trouble <= rounds; trouble++) {
    signal.throwIfAborted()
    show(`trouble ${trouble} of ${rounds}`)
    const isLong = trouble % LONG_PAUSE_EVERY === 0
    if (isLong) await hold(nats, LONG_PAUSE_MS)
    else if (chance.number() < 0.5) await hold(nats, chance.between(50, 1_000))
    else await killFor(nats, chance.between(0, 400))
    if (isLong) await afterLongPause()
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

/** What waits now has gone out soon after the bus is back, though more comes in. Answers after how long. */
async function requireDrained(platform: ServedPlatform): Promise<number> {
  const start = performance.now()
  const [newest] = await messages(platform, 'limit=1')
  await eventually(
    'what waited for the bus to be delivered',
    async () => {
      const answer = await platform.call('GET', `/messages/${newest?.id}`)
      return ((await answer.json()) as MessageAnswer).status === 'delivered'
    },
    { timeoutMs: DRAIN_MS },
  )
  return performance.now() - start
}

async function storm(trial: Trial, jetstream: boolean) {
  const { nats, listener, platform, producers } = await openWorld(trial, jetstream)
  const drains: number[] = []
  await disturb(trial, nats, async () => void drains.push(await requireDrained(platform)))
  const sent = await producers.stop()
  drains.push(await requireDrained(platform))
  await eventually(
    'the outbox to be empty',
    async () => (await messages(platform, 'status=pending&limit=1')).length === 0,
    { timeoutMs: DRAIN_MS },
  )
  assert.deepEqual(await messages(platform, 'status=dead'), [])
  for (const [subject, count] of Object.entries(sent))
    assert.ok(count > trial.rounds, `${count} of ${subject}: no load`)
  const total = Object.values(sent).reduce((sum, count) => sum + count, 0)
  const figures = { troubles: trial.rounds, sent: total, 'slowest drain ms': Math.round(Math.max(...drains)) }
  return { nats, listener, sent, total, figures }
}

async function withStream(trial: Trial): Promise<Figures> {
  const { nats, listener, sent, total, figures } = await storm(trial, true)
  const stored = await readStream(nats.url, 'PLATFORM')
  assert.equal(new Set(stored.map(({ id }) => id)).size, stored.length, 'no repetition is stored')
  for (const [subject, count] of Object.entries(sent)) {
    const numbers = numbersOn(subject, stored)
    const wrong = numbers.findIndex((number, index) => number !== index + 1)
    assert.equal(wrong, -1, `${subject}: ${numbers.slice(Math.max(0, wrong - 5), wrong + 5).join(' ')}`)
    assert.equal(numbers.length, count, `${subject} is complete`)
  }
  const heard = listener.lives.flat().length
  return { ...figures, lost: 0, 'stored twice': 0, 'heard by a listener': `${heard} of ${total}` }
}

/**
 * A bus that stores nothing forgets with its life what a receiver had not taken yet, confirmed or not. What can be
 * promised is what holds within one life of the server and its listener: nobody is skipped. A number is followed by the
 * next one, or by a repetition from further back, since what was not confirmed is sent again as a whole.
 */
async function withoutStream(trial: Trial): Promise<Figures> {
  const { listener, sent, total, figures } = await storm(trial, false)
  let heardInAll = 0
  for (const [subject, count] of Object.entries(sent)) {
    const heard = new Set<number>()
    for (const life of listener.lives) noteNumbers(subject, numbersOn(subject, life), heard)
    heardInAll += heard.size
    assert.ok(heard.size > count / 2, `only ${heard.size} of ${count} messages on ${subject} were heard`)
  }
  assert.ok(listener.lives.length > 1, 'the bus never died')
  return { ...figures, skipped: 0, 'heard by a listener': `${heardInAll} of ${total}` }
}

function noteNumbers(subject: string, numbers: readonly number[], heard: Set<number>): void {
  let highest: number | undefined
  for (const number of numbers) {
    assert.ok(highest === undefined || number <= highest + 1, `${subject}: ${number} came after ${highest}`)
    highest = Math.max(number, highest ?? 0)
    heard.add(number)
  }
}

function numberIn({ subject, payload }: Arrival): number {
  const body = JSON.parse(payload) as number | { subject: string }
  return subject === 'order.created' ? Number((body as { subject: string }).subject) : (body as number)
}

function numbersOn(subject: string, arrivals: readonly Arrival[]): number[] {
  return arrivals.filter((arrival) => arrival.subject === subject).map(numberIn)
}
