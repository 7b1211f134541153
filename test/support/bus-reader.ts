import { setTimeout as pause } from 'node:timers/promises'
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type ConsumerInfo,
  type StreamConfig,
} from '@nats-io/jetstream'
import { connect, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { eventually } from './eventually.ts'

/** A message as a subscriber receives it. */
export interface Arrival {
  readonly id: string
  readonly subject: string
  readonly payload: string
}

const toArrival = (message: {
  subject: string
  headers?: MsgHdrs | undefined
  string(): string
}): Arrival => ({
  id: message.headers?.get('Nats-Msg-Id') ?? '',
  subject: message.subject,
  payload: message.string(),
})

/** A core NATS subscriber that reconnects when the server is available again. */
export interface Listener extends AsyncDisposable {
  /** The messages of each connection, in order, with duplicates. */
  readonly connections: readonly (readonly Arrival[])[]
  readonly isConnected: boolean
}

/** Subscribes; fails if it cannot within two minutes. */
export async function listenTo(
  url: string,
  subjects: readonly string[],
  timeoutMs = 120_000,
): Promise<Listener> {
  const connections: Arrival[][] = []
  let connection: NatsConnection | undefined
  let closing = false

  const receive = async () => {
    const opened = await connect({ servers: url, reconnect: false, timeout: 1_000 })
    const arrived: Arrival[] = []
    for (const subject of subjects) {
      opened.subscribe(subject, {
        callback: (error, message) => void (error ?? arrived.push(toArrival(message))),
      })
    }
    // A flush of a connection that closes meanwhile never ends.
    await Promise.race([opened.flush(), opened.closed()])
    if (opened.isClosed()) return
    connections.push(arrived)
    connection = opened
    // The listener may have ended while this connection was opened.
    if (closing) await opened.close()
    await opened.closed()
    connection = undefined
  }

  const run = async () => {
    while (!closing) {
      await receive().catch(() => undefined)
      await pause(10)
    }
  }

  const running = run()
  const stop = async () => {
    closing = true
    await connection?.close()
    await running
  }
  try {
    await eventually(`a connection to ${url}`, () => connection, { timeoutMs })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    connections,
    get isConnected() {
      return connection !== undefined
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** All messages of a stream, in order. */
export function readStream(url: string | string[], stream: string): Promise<Arrival[]> {
  return withConnection(url, (connection) => readAll(connection, stream))
}

/** What a server of a cluster has of a stream. */
export interface Replica {
  readonly server: string
  /** In order. */
  readonly messages: readonly Arrival[]
}

/** The replicas of a stream. A consumer reads from one of them, and after faults they may differ. */
export function readReplicas(urls: readonly string[], stream: string): Promise<readonly Replica[]> {
  return withConnection([...urls], async (connection) => {
    const { streams } = await jetstreamManager(connection)
    const { cluster } = await streams.info(stream)
    const servers = [cluster?.leader, ...(cluster?.replicas ?? []).map(({ name }) => name)]
    const replicas: Replica[] = []
    for (const server of servers.filter((each) => each !== undefined))
      replicas.push({ server, messages: await readFrom(server, connection, stream) })
    return replicas
  })
}

async function readFrom(
  server: string,
  connection: NatsConnection,
  stream: string,
): Promise<readonly Arrival[]> {
  const { consumers } = await jetstreamManager(connection)
  const { name } = await eventually(`a consumer of ${stream} on ${server}`, async () => {
    const consumer = await consumers.add(stream, ON_ONE_SERVER)
    if (serverOf(consumer) === server) return consumer
    await consumers.delete(stream, consumer.name)
    return undefined
  })
  return readAll(connection, stream, name)
}

// The cluster chooses the server at random.
const ON_ONE_SERVER = {
  ack_policy: AckPolicy.None,
  deliver_policy: DeliverPolicy.All,
  num_replicas: 1,
  mem_storage: true,
}

function serverOf({ cluster }: ConsumerInfo): string | undefined {
  return cluster?.leader
}

const SEALED: Partial<StreamConfig> = { sealed: true }

export function changeStream(
  urls: readonly string[],
  stream: string,
  changes: Partial<StreamConfig>,
): Promise<void> {
  return withConnection([...urls], async (connection) => {
    const { streams } = await jetstreamManager(connection)
    await eventually(`the stream ${stream} to change`, () => streams.update(stream, changes))
  })
}

/** Deletes a stream and returns its messages. The stream is sealed first, so that no message is lost in between. */
export function sealAndDelete(url: string, stream: string): Promise<Arrival[]> {
  return withConnection(url, async (connection) => {
    const { streams } = await jetstreamManager(connection)
    await eventually(`the stream ${stream} to exist`, () => streams.update(stream, SEALED))
    const stored = await readAll(connection, stream)
    await streams.delete(stream)
    return stored
  })
}

/** The first arrival of each message. */
export function withoutRepetitions(arrivals: readonly Arrival[]): Arrival[] {
  const firsts = new Map<string, Arrival>()
  for (const arrival of arrivals) if (!firsts.has(arrival.id)) firsts.set(arrival.id, arrival)
  return [...firsts.values()]
}

async function withConnection<T>(
  url: string | string[],
  use: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: url })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

async function readAll(
  connection: NatsConnection,
  stream: string,
  consumerName?: string,
): Promise<Arrival[]> {
  const { state } = await (await jetstreamManager(connection)).streams.info(stream)
  const stored: Arrival[] = []
  if (state.messages === 0) return stored
  const consumer = await jetstream(connection).consumers.get(stream, consumerName)
  for await (const message of await consumer.consume({ max_messages: 1_000 })) {
    stored.push(toArrival(message))
    if (message.seq === state.last_seq) return stored
  }
  return stored
}
