import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Identity } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import type { EventLog, EventPage, LoggedEvent, PositionedEvent, PositionedLog } from '../../ports/events.ts'
import type { StreamEnd, StreamOutput } from '../../wire/stream.ts'
import { LiveEvents, type LiveEventsDeps, type StreamRequest } from './service.ts'

const ADMIN: Identity = { id: 'a', name: 'a', roles: ['admin'], via: 'headers' }
const AUDITOR: Identity = { ...ADMIN, roles: ['auditor'] }
const MEGABYTE = 1_048_576

/** A log in memory, whose reads can be made to fail. */
class MemoryLog implements EventLog {
  readonly events: LoggedEvent[] = []
  removed = 0
  isFailing = false
  reads = 0
  subjects: readonly string[] = []

  append(subject = 'order.created', payload = '{}'): void {
    this.events.push({ place: this.events.length + 1, subject, payload })
  }

  async readAfter(after: number, limit: number, subjects: readonly string[] = []): Promise<EventPage> {
    this.reads++
    this.subjects = [...this.subjects, ...subjects]
    if (this.isFailing) throw new Error('the log cannot be read')
    const events = this.events.filter(({ place }) => place > Math.max(after, this.removed)).slice(0, limit)
    return { events, through: events.at(-1)?.place ?? after }
  }

  async newestPlace(): Promise<number> {
    return this.events.length
  }

  async removedUpTo(): Promise<number> {
    return this.removed
  }
}

/** The log of telemetry in memory. */
class MemoryTelemetry implements PositionedLog {
  readonly events: PositionedEvent[] = []
  readonly messages: MemoryLog
  removed = 0

  constructor(messages: MemoryLog) {
    this.messages = messages
  }

  append(afterMessage = this.messages.events.length): void {
    const subject = 'telemetry.agent.a'
    this.events.push({ place: this.events.length + 1, subject, payload: '{}', afterMessage })
  }

  async readAfter(after: number, limit: number): Promise<readonly PositionedEvent[]> {
    return this.events.filter(({ place }) => place > Math.max(after, this.removed)).slice(0, limit)
  }

  async newestPlace(message: number): Promise<number> {
    return this.events.findLast(({ afterMessage }) => afterMessage <= message)?.place ?? 0
  }

  async removedUpTo(): Promise<number> {
    return this.removed
  }

  async waitForTransactions(): Promise<void> {}
}

/** A client in memory. */
class MemoryOutput implements StreamOutput {
  isOver = false
  unreadBytes = 0
  text = ''
  readonly #ended = Promise.withResolvers<StreamEnd>()

  get over(): Promise<StreamEnd> {
    return this.#ended.promise
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)\nevent/gm)].map(([, id = '']) => id)
  }

  write(chunk: Uint8Array | string): void {
    if (!this.isOver) this.text += Buffer.from(chunk as string).toString()
  }

  async drained(): Promise<void> {}

  cut(): void {
    this.end('slow')
  }

  end(reason: StreamEnd): void {
    this.isOver = true
    this.#ended.resolve(reason)
  }
}

interface OpenStream {
  readonly output: MemoryOutput
  readonly body: Promise<void>
}

function world(deps: Partial<LiveEventsDeps> = {}) {
  const log = new MemoryLog()
  const telemetry = new MemoryTelemetry(log)
  const events = new LiveEvents({
    logs: { messages: log, telemetry },
    subjects: {
      messages: [{ subject: 'order.created', readers: ['admin', 'auditor'] }],
      telemetry: [{ subject: 'telemetry.agent.*', readers: ['admin'] }],
    },
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    ...deps,
  })
  const open = async (request: Partial<StreamRequest> = {}): Promise<OpenStream> => {
    const body = await events.open({ identity: AUDITOR, ...request })
    const output = new MemoryOutput()
    return { output, body: body(output) }
  }
  return { events, log, telemetry, open }
}

const hasIds = ({ output }: OpenStream, ...ids: string[]) =>
  eventually(`the ids ${ids.join(', ')}`, () => output.ids.join() === ids.join())

test('a stream gets the events that come after it has begun, each once', async () => {
  const { events, log, open } = world()
  log.append()
  const stream = await open()
  log.append()
  events.wake()
  await hasIds(stream, '2')
  log.append()
  log.append()
  await hasIds(stream, '2', '3', '4')
  stream.output.end('client')
  await stream.body
  await events.close()
})

test('a thousand events are caught up with in pages, while others come', async () => {
  const { events, log, open } = world()
  for (let index = 0; index < 1_200; index++) log.append()
  const live = await open()
  const stream = await open({ lastEventId: '3' })
  for (let index = 0; index < 50; index++) {
    log.append()
    events.wake()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await eventually('all events', () => stream.output.ids.length >= 1_247)
  assert.deepEqual(
    stream.output.ids,
    Array.from({ length: 1_247 }, (_, index) => String(index + 4)),
  )
  await eventually('the new events', () => live.output.ids.length === 50)
  for (const { output } of [live, stream]) output.end('client')
  await events.close()
})

test('a stream that resumes reads the events on its subjects only', async () => {
  const { events, log, open } = world()
  for (let index = 0; index < 2; index++) log.append()
  const stream = await open({ lastEventId: '1', subjects: ['order.*'] })
  await hasIds(stream, '2')
  assert.deepEqual(log.subjects, ['order.created'])
  stream.output.end('client')
  await events.close()
})

test('readers share the reads of new events', async () => {
  const { events, log, open } = world()
  const streams = await Promise.all(Array.from({ length: 50 }, () => open()))
  log.append()
  events.wake()
  for (const stream of streams) await hasIds(stream, '1')
  const before = log.reads
  log.append()
  events.wake()
  for (const stream of streams) await hasIds(stream, '1', '2')
  assert.ok(log.reads - before < streams.length)
  for (const { output } of streams) output.end('client')
  await events.close()
})

test('nothing is read while there are no streams', async () => {
  const { events, log, open } = world()
  const stream = await open()
  await eventually('a read', () => log.reads > 0)
  stream.output.end('client')
  await stream.body
  await events.close()
  const { reads } = log
  events.wake()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(log.reads, reads)
})

test('a stream goes on when the log could not be read', async () => {
  const { events, log, open } = world()
  const stream = await open()
  log.isFailing = true
  log.append()
  const { reads } = log
  await eventually('a failed read', () => log.reads > reads)
  log.isFailing = false
  events.wake()
  await hasIds(stream, '1')
  stream.output.end('client')
  await events.close()
})

for (const [lastEventId, reason] of [
  ['nonsense', 'unreadable'],
  ['9', 'unreadable'],
  ['1', 'removed'],
] as const) {
  test(`after Last-Event-ID ${lastEventId} the stream is reset: ${reason}`, async () => {
    const { events, log, open } = world()
    for (let index = 0; index < 4; index++) log.append()
    log.removed = 2
    const stream = await open({ lastEventId })
    assert.equal(stream.output.text, `id: 4\nevent: reset\ndata: {"reason":"${reason}"}\n\n`)
    log.append()
    await hasIds(stream, '4', '5')
    stream.output.end('client')
    await events.close()
  })
}

test('an event that is removed while a stream catches up resets it', async () => {
  const { events, log } = world()
  for (let index = 0; index < 4; index++) log.append()
  const body = await events.open({ identity: AUDITOR, lastEventId: '1' })
  log.removed = 3
  const output = new MemoryOutput()
  void body(output)
  await eventually('a reset', () => output.text.includes('event: reset'))
  assert.deepEqual(output.ids, ['4'])
  output.end('client')
  await events.close()
})

test('a client that does not read is cut off, and the others are not', async () => {
  const { events, log, open } = world()
  const [slow, quick] = [await open(), await open()]
  log.append()
  await hasIds(slow, '1')
  slow.output.unreadBytes = MEGABYTE
  log.append()
  await hasIds(slow, '1', '2')
  slow.output.unreadBytes = MEGABYTE + 1
  log.append()
  await slow.body
  assert.equal(await slow.output.over, 'slow')
  await hasIds(quick, '1', '2', '3')
  quick.output.end('client')
  await events.close()
})

test('comments carry the place, so that a quiet stream resumes behind what it has passed', async () => {
  const { events, log, open } = world({ commentEveryMs: 10 })
  const stream = await open({ subjects: ['order.created'] })
  log.append('other.event')
  await eventually('a comment', () => stream.output.text.endsWith(':\nid: 1\n\n'))
  assert.deepEqual(stream.output.ids, [])
  stream.output.end('client')
  await events.close()
})

test('a stream beyond the limit is refused until another one has ended', async () => {
  const { events, open } = world({ limit: 2 })
  const [first] = [await open(), await open()]
  await assert.rejects(open(), { code: 'too_many_streams', retryAfterSeconds: 5 })
  await assert.rejects(open({ subjects: ['none'] }), { code: 'validation_failed' })
  first.output.end('client')
  await first.body
  const third = await open()
  third.output.end('client')
  await events.close()
})

test('an output that is over releases its place', async () => {
  const { events, open } = world({ limit: 1 })
  const body = await events.open({ identity: ADMIN })
  const output = new MemoryOutput()
  output.end('done')
  await body(output)
  const stream = await open()
  stream.output.end('client')
  await events.close()
})

test('an event has the same id for all readers of both logs, however they have come to it', async () => {
  const { events, log, telemetry, open } = world()
  const identity = ADMIN
  const live = await open({ identity })
  const ids = ['1-0', '1-1', '2-1', '2-2', '2-3', '3-3', '4-3']
  log.append()
  await hasIds(live, '1-0')
  telemetry.append()
  log.append()
  telemetry.append()
  telemetry.append()
  log.append()
  log.append()
  await hasIds(live, ...ids)
  const resumed = await Promise.all(ids.map((lastEventId) => open({ identity, lastEventId })))
  for (const [index, stream] of resumed.entries()) await hasIds(stream, ...ids.slice(index + 1))
  for (const { output } of [live, ...resumed]) output.end('client')
  await events.close()
})

test('telemetry that comes after a message waits until that message can be read', async () => {
  const { events, log, telemetry, open } = world()
  const stream = await open({ identity: ADMIN })
  telemetry.append(0)
  telemetry.append(1)
  await hasIds(stream, '0-1')
  log.append()
  events.wake()
  await hasIds(stream, '0-1', '1-1', '1-2')
  stream.output.end('client')
  await events.close()
})

test('an id has the places of the logs of its subscription only', async () => {
  const { events, log, telemetry, open } = world()
  const admin = { identity: ADMIN }
  const [orders, agents] = [
    await open({ ...admin, subjects: ['order.created'] }),
    await open({ ...admin, subjects: ['telemetry.agent.*'] }),
  ]
  log.append()
  telemetry.append()
  log.append()
  telemetry.append()
  await hasIds(orders, '1', '2')
  await hasIds(agents, '-1', '-2')
  const resumed = [
    await open({ ...admin, subjects: ['order.created'], lastEventId: '1' }),
    await open({ ...admin, subjects: ['order.created'], lastEventId: '1-0' }),
    await open({ ...admin, subjects: ['telemetry.agent.*'], lastEventId: '-1' }),
    await open({ ...admin, subjects: ['telemetry.agent.*'], lastEventId: '0-1' }),
  ]
  for (const [index, stream] of resumed.entries()) await hasIds(stream, index < 2 ? '2' : '-2')
  const reset = await open({ ...admin, lastEventId: '1' })
  assert.match(reset.output.text, /^id: 2-2\nevent: reset\ndata: {"reason":"unreadable"}/)
  for (const { output } of [orders, agents, ...resumed, reset]) output.end('client')
  await events.close()
})
