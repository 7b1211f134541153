import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import { jetstreamManager, JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { PermissionViolationError, TimeoutError } from '@nats-io/transport-node'

const API_TIMEOUT_MS = 5_000

/** For a server without JetStream of its own: another server of its cluster may still answer. */
const REMOTE_API_TIMEOUT_MS = 1_000

/** What the platform changes of streams. Both reject if the server refuses. */
export interface Streams {
  add(config: Partial<StreamConfig> & Pick<StreamConfig, 'name'>): Promise<unknown>
  update(name: string, changes: Partial<StreamConfig>): Promise<unknown>
}

/** A stream that has answered. */
export interface ListedStream extends StreamConfig {
  /** When the server made it, in epoch milliseconds. */
  readonly madeAt?: number
}

/** JetStream's API on one connection. */
export interface JetStream {
  readonly streams: Streams
  /**
   * The configuration of each stream that answers; undefined if the account has no JetStream. A cluster leaves out a stream
   * that has no leader at the moment. Rejects on a timeout.
   */
  listStreams(): Promise<readonly ListedStream[] | undefined>
  /** Whether there is such a stream, even if it does not answer. False if the account may not ask. Rejects on a timeout. */
  exists(stream: string): Promise<boolean>
  /** Lets the servers of a stream elect another leader. Rejects if they do not. */
  replaceLeader(stream: string): Promise<void>
}

/** Opens the API, and remembers a server that turned out to have no JetStream. */
export class JetStreamOpener {
  // A server's id is new with each start, and a running server does not gain JetStream.
  #serverWithoutJetStream: string | undefined

  async open(connection: NatsConnection): Promise<JetStream> {
    const timeout = announcesJetStream(connection) ? API_TIMEOUT_MS : REMOTE_API_TIMEOUT_MS
    const { streams } = await jetstreamManager(connection, { checkAPI: false, timeout })
    return {
      streams,
      listStreams: () => this.#list(connection, streams),
      exists: (stream) => exists(streams, stream),
      replaceLeader: (stream) => replaceLeader(connection, stream),
    }
  }

  async #list(
    connection: NatsConnection,
    streams: JetStreamManager['streams'],
  ): Promise<readonly ListedStream[] | undefined> {
    const serverId = connection.info?.server_id
    if (serverId !== undefined && serverId === this.#serverWithoutJetStream) return undefined
    try {
      return await Array.fromAsync(streams.list(), ({ config, created }) => ({
        ...config,
        madeAt: Date.parse(created),
      }))
    } catch (error) {
      if (!isUnavailable(connection, error)) throw error
      if (!announcesJetStream(connection)) this.#serverWithoutJetStream = serverId
      return undefined
    }
  }
}

async function exists(streams: JetStreamManager['streams'], stream: string): Promise<boolean> {
  try {
    return (await Array.fromAsync(streams.names())).includes(stream)
  } catch (error) {
    if (isForbidden(error)) return false
    throw error
  }
}

/**
 * A timeout of a server that announces JetStream is temporary (a cluster without a leader, a disabled store): an error,
 * so that messages wait instead of bypassing the acknowledgement of their stream. A server without JetStream times out
 * too, instead of answering "no responders", as soon as a client subscribes to all subjects.
 */
function isUnavailable(connection: NatsConnection, error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (isForbidden(error)) return true
  if (error.name === 'JetStreamNotEnabled' && error.cause instanceof JetStreamApiError) return true
  const isSilent = error.name === 'JetStreamNotEnabled' || error instanceof TimeoutError
  return isSilent && !announcesJetStream(connection)
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof PermissionViolationError
}

// https://docs.nats.io/reference/reference-protocols/nats_api_reference
async function replaceLeader(connection: NatsConnection, stream: string): Promise<void> {
  const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`
  const answer = await connection.request(subject, undefined, { timeout: API_TIMEOUT_MS })
  const { error } = answer.json<{ readonly error?: { readonly description: string } }>()
  if (error) throw new Error(error.description)
}

function announcesJetStream(connection: NatsConnection): boolean {
  return connection.info?.jetstream === true
}
