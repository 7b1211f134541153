import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { connect } from '@nats-io/transport-node'
import { createNatsBus, type NatsBusOptions } from '../../src/infra/bus/nats.ts'
import type { Bus, BusMessage, PublishResult } from '../../src/kernel/bus.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { LogFields, Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { message } from '../contract/bus.contract.ts'
import { eventually } from './eventually.ts'
import type { NatsOptions, NatsServer } from './nats.ts'
import { startNats } from './nats.ts'

/** A log line. */
export interface Line extends LogFields {
  readonly level: string
  readonly text: string
}

function recordingLogger(lines: Line[]): Logger {
  const at = (level: string) => (fields: LogFields, text: string) =>
    void lines.push({ ...fields, level, text })
  const logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  }
  return logger
}

export const STREAM_SUBJECTS = ['order.>', 'ticket.>', 'alert.>', 'telemetry.agent.>']

/** Opens a bus that the test closes. */
export function openBus(
  t: TestContext,
  servers: readonly string[],
  lines: Line[] = [],
  {
    streamSubjects = STREAM_SUBJECTS,
    replicas,
    clock = systemClock,
  }: Partial<Pick<NatsBusOptions, 'streamSubjects' | 'replicas' | 'clock'>> = {},
): Bus {
  const bus = createNatsBus({
    servers,
    name: 'test',
    streamSubjects,
    replicas,
    clock,
    logger: recordingLogger(lines),
    metrics: noMetrics,
  })
  t.after(() => bus.close())
  return bus
}

export async function waitForConnection(bus: Bus): Promise<Bus> {
  await eventually('the bus to connect', () => bus.state === 'connected')
  return bus
}

export async function openServer(t: TestContext, options: NatsOptions): Promise<NatsServer> {
  const nats = await startNats(options)
  t.after(() => nats.stop())
  return nats
}

export async function openClient(t: TestContext, url: string): Promise<NatsConnection> {
  const connection = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50 })
  t.after(() => connection.close())
  return connection
}

function toMessage(msg: Pick<Msg, 'subject' | 'headers' | 'string'>): BusMessage {
  const headers = [...(msg.headers ?? [])].map(([name, values]) => [name, values[0] ?? ''])
  const { 'Nats-Msg-Id': id = '', ...others } = Object.fromEntries(headers) as Record<string, string>
  return { id, subject: msg.subject, payload: msg.string(), headers: others }
}

const SUBJECTS = ['order.>', 'ticket.>', 'alert.>', 'telemetry.>', 'free.>']

/** The messages that a subscriber of these subjects receives. */
export async function listen(
  t: TestContext,
  url: string,
  subjects = SUBJECTS,
): Promise<readonly BusMessage[]> {
  const connection = await openClient(t, url)
  const arrived: BusMessage[] = []
  const callback = (_error: Error | null, msg: Msg) => void arrived.push(toMessage(msg))
  for (const subject of subjects) connection.subscribe(subject, { callback })
  await connection.flush()
  return arrived
}

export async function readStored(t: TestContext, url: string, stream: string): Promise<BusMessage[]> {
  const manager = await jetstreamManager(await openClient(t, url))
  const { state } = await manager.streams.info(stream)
  const sequences = Array.from({ length: state.last_seq }, (_, at) => at + 1)
  const messages = await Promise.all(sequences.map((seq) => manager.streams.getMessage(stream, { seq })))
  return messages.map((each) => {
    assert.ok(each)
    return toMessage({ subject: each.subject, headers: each.header, string: () => each.string() })
  })
}

/**
 * Publishes like the dispatcher: in order, and failed messages again until all are delivered. Calls `disturb` while a
 * batch is being published. Returns the number of failures.
 */
export async function sendAll(
  bus: Bus,
  messages: readonly BusMessage[],
  batchSize: number,
  disturb: (batch: number) => unknown,
): Promise<number> {
  let failures = 0
  for (let at = 0; at < messages.length; at += batchSize) {
    let open = messages.slice(at, at + batchSize)
    const publishing = bus.publish(open)
    await disturb(at / batchSize)
    let deliveries: PublishResult[] = await publishing
    while ((open = open.filter((_, index) => deliveries[index]?.outcome !== 'delivered')).length > 0) {
      failures += open.length
      await waitForConnection(bus)
      deliveries = await bus.publish(open)
    }
  }
  return failures
}

/** Messages with increasing numbers, on several subjects in turn. */
export function numberedMessages(count: number): BusMessage[] {
  const subjects = ['order.created', 'order.paid', 'ticket.created', 'alert.raised', 'telemetry.agent.a1']
  return Array.from({ length: count }, (_, at) =>
    message(subjects[at % subjects.length] as string, String(at)),
  )
}

/** The messages without later duplicates. */
export function firstOfEach(messages: readonly BusMessage[]): BusMessage[] {
  return [...new Map(messages.toReversed().map((each) => [each.id, each])).values()].toReversed()
}

export function bySubject(messages: readonly BusMessage[]): Record<string, string[]> {
  const groups = Object.groupBy(messages, (each) => each.subject)
  return Object.fromEntries(
    Object.entries(groups).map(([key, group = []]) => [key, group.map((each) => each.payload)]),
  )
}
