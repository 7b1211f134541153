import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import {
  listenTo,
  readStream,
  sealAndDelete,
  withoutRepetitions,
  type Arrival,
} from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats, type NatsServer } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { NUMBERED_SUBJECT, numberedTicket, numbersOfLane } from '../support/numbered-tickets.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const STREAM = 'PLATFORM'
const ORDERS = 'order.created'
// Longer than the timeout of a publish, shorter than that of a connection.
const LONG_PAUSE_MS = 6_000
const LONG_PAUSE_EVERY = 10
const DELETION_EVERY = 7
// The limit is 10 s on an idle machine.
const DRAIN_MS = 30_000

export const busStorm: Scenario = {
  name: 'bus-storm',
  row: 'R-5',
  promise: 'a bus that repeatedly crashes, hangs and loses its stream receives every message, in order',
  unit: 'kills and pauses of the bus, and deletions of its stream',
  rounds: { short: 6, brief: 25, full: 100 },
  parts: [
    { title: 'with JetStream, the streams contain every message in order', share: 1, run: withStream },
    { title: 'without JetStream, a subscriber misses no message', share: 1, run: withoutStream },
  ],
}

interface MessageAnswer {
  readonly id: string
  readonly subject: string
  readonly status: string
  readonly payload: unknown
}

/** A platform with its bus, and clients that write. */
async function openWorld({ scope }: Trial, jetstream: boolean) {
  const directory = scope.use(temporaryDirectory())
  const nats = await startNats({ jetstream })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['order.>', NUMBERED_SUBJECT]))
  const platform = scope.use(await servePlatform({ dataDir: directory.path, env: { BUS_SERVER: nats.url } }))
  return { nats, listener, platform, producers: startProducers(platform) }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** One producer for each kind of event; it sends the next number after the last one was accepted. */
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
  const ticket = (lane: string) => (number: number) =>
    platform.call('POST', '/tickets', { body: numberedTicket(lane, number) })
  const running = Promise.all([produce(order, 201), produce(ticket('a'), 201), produce(ticket('b'), 201)])
  // `stop` rejects with a failure.
  running.catch(() => undefined)
  return {
    async stop(): Promise<Readonly<Record<string, number>>> {
      stopping = true
      const [orders, a, b] = await running
      return { [ORDERS]: orders, a, b }
    },
  }
}

/** Disturbs the bus, and records what the final check needs. */
class Storm {
  /** Milliseconds until the backlog was delivered after a long pause, and after a deletion. */
  readonly drains: number[] = []
  readonly drainsAfterDeletion: number[] = []
  /** The messages of each deleted stream. */
  readonly deletedStreams: Arrival[][] = []
  readonly #world: World
  readonly #trial: Trial
  readonly #hasStream: boolean

  constructor(world: World, trial: Trial, hasStream: boolean) {
    this.#world = world
    this.#trial = trial
    this.#hasStream = hasStream
  }

  /** Kills and pauses the bus and deletes its stream, with a short wait after each. */
  async run(): Promise<void> {
    const { rounds, chance, signal, show } = this.#trial
    for (let round = 1; round <= rounds; round++) {
      signal.throwIfAborted()
      show(`round ${round} of ${rounds}`)
      await this.#disturb(round)
      await pause(chance.between(100, 600))
    }
  }

  async #disturb(round: number): Promise<void> {
    const { nats, platform } = this.#world
    const { chance } = this.#trial
    if (round % LONG_PAUSE_EVERY === 0) {
      await pauseFor(nats, LONG_PAUSE_MS)
      this.drains.push(await requireDrained(platform))
    } else if (this.#hasStream && round % DELETION_EVERY === 0) {
      this.deletedStreams.push(await sealAndDelete(nats.url, STREAM))
      this.drainsAfterDeletion.push(await requireDrained(platform))
    } else if (chance.number() < 0.5) await pauseFor(nats, chance.between(50, 1_000))
    else await killFor(nats, chance.between(0, 400))
  }
}

async function pauseFor(nats: NatsServer, milliseconds: number): Promise<void> {
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

/** Waits until the newest message is delivered, while others are written. Returns the time it took. */
async function requireDrained(platform: ServedPlatform): Promise<number> {
  const start = performance.now()
  const [newest] = await messages(platform, 'limit=1')
  await eventually(
    'the newest message to be delivered',
    async () => {
      const answer = await platform.call('GET', `/messages/${newest?.id}`)
      return ((await answer.json()) as MessageAnswer).status === 'delivered'
    },
    { timeoutMs: DRAIN_MS },
  )
  return performance.now() - start
}

async function runStorm(trial: Trial, jetstream: boolean) {
  const world = await openWorld(trial, jetstream)
  const { nats, listener, platform, producers } = world
  const storm = new Storm(world, trial, jetstream)
  await storm.run()
  const sent = await producers.stop()
  storm.drains.push(await requireDrained(platform))
  await eventually(
    'the outbox to be empty',
    async () => (await messages(platform, 'status=pending&limit=1')).length === 0,
    { timeoutMs: DRAIN_MS },
  )
  assert.deepEqual(await messages(platform, 'status=dead'), [])
  for (const [subject, count] of Object.entries(sent))
    assert.ok(count > trial.rounds, `${count} of ${subject}: no load`)
  const total = Object.values(sent).reduce((sum, count) => sum + count, 0)
  const figures = { rounds: trial.rounds, sent: total, 'slowest drain ms': slowest(storm.drains) }
  return { nats, listener, sent, total, figures, storm }
}

/** A stream is sealed and read before its deletion, so the messages of all streams together must be complete. */
async function withStream(trial: Trial): Promise<Figures> {
  const { nats, listener, sent, total, figures, storm } = await runStorm(trial, true)
  const streams = [...storm.deletedStreams, await readStream(nats.url, STREAM)]
  for (const stored of streams) {
    assert.equal(withoutRepetitions(stored).length, stored.length, 'a stream has no message twice')
  }
  const stored = withoutRepetitions(streams.flat())
  for (const [kind, count] of Object.entries(sent)) requireSequence(kind, numbersOf(kind, stored), count)
  const received = listener.connections.flat().length
  return {
    ...figures,
    lost: 0,
    'streams deleted': storm.deletedStreams.length,
    'slowest drain after a deletion ms': slowest(storm.drainsAfterDeletion),
    'received by a subscriber': `${received} of ${total}`,
  }
}

function requireSequence(kind: string, numbers: readonly number[], count: number): void {
  const wrong = numbers.findIndex((number, index) => number !== index + 1)
  assert.equal(wrong, -1, `${kind}: ${numbers.slice(Math.max(0, wrong - 5), wrong + 5).join(' ')}`)
  assert.equal(numbers.length, count, `${kind} is complete`)
}

/**
 * A killed bus without a stream loses the messages that its subscribers have not read, even confirmed ones. The promise
 * holds for each connection of a subscriber: no message is skipped. A number is followed by the next one, or by an
 * earlier one, since unconfirmed messages are sent again in a batch.
 */
async function withoutStream(trial: Trial): Promise<Figures> {
  const { listener, sent, total, figures } = await runStorm(trial, false)
  let totalReceived = 0
  for (const [kind, count] of Object.entries(sent)) {
    const received = new Set<number>()
    for (const connection of listener.connections) recordNumbers(kind, numbersOf(kind, connection), received)
    totalReceived += received.size
    assert.ok(received.size > count / 2, `only ${received.size} of ${count} events of ${kind} were received`)
  }
  assert.ok(listener.connections.length > 1, 'the bus was never killed')
  return { ...figures, skipped: 0, 'received by a subscriber': `${totalReceived} of ${total}` }
}

function recordNumbers(subject: string, numbers: readonly number[], received: Set<number>): void {
  let highest: number | undefined
  for (const number of numbers) {
    assert.ok(highest === undefined || number <= highest + 1, `${subject}: ${number} came after ${highest}`)
    highest = Math.max(number, highest ?? 0)
    received.add(number)
  }
}

function numbersOf(kind: string, arrivals: readonly Arrival[]): number[] {
  if (kind !== ORDERS) return numbersOfLane(kind, arrivals)
  const created = arrivals.filter(({ subject }) => subject === ORDERS)
  return created.map(({ payload }) => Number((JSON.parse(payload) as { subject: string }).subject))
}

function slowest(milliseconds: readonly number[]): number {
  return Math.round(Math.max(0, ...milliseconds))
}
