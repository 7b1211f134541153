import {
  type JetStreamManager,
  type StreamConfig,
  jetstreamManager,
  JetStreamApiError,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, PermissionViolationError, TimeoutError, nanos } from '@nats-io/transport-node'
import { DAY, MINUTE } from '../../kernel/time.ts'
import { patternCovers, patternsCollide } from './subjects.ts'

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

export const STREAM_NAME = 'PLATFORM'

/** Marks a stream as created by the platform: another text would disown the streams that exist. */
const DESCRIPTION = 'Events of the platform, made by it when it found no stream for them'

const MAX_AGE_MS = 7 * DAY

/**
 * A publish whose acknowledgement was lost is repeated as soon as the bus is back, so the window has to outlast an
 * outage: half an hour covers a restart, a reboot and an operator who is called. Not more, because the server keeps
 * every id of the window in memory. Receivers drop later duplicates by id.
 */
export const DUPLICATE_WINDOW_MS = 30 * MINUTE

export interface PlatformStreamOptions {
  /** As patterns. */
  readonly subjects: readonly string[]
  /** How many servers store the stream; undefined leaves a stream as it is. */
  readonly replicas: number | undefined
}

/**
 * Creates the stream `PLATFORM` for the subjects that no other stream takes, or adds the subjects that it lacks.
 * Returns the subjects added. Rejects if the server refuses. Streams of operators are not changed.
 */
export async function ensurePlatformStream(
  { streams }: JetStream,
  existing: readonly StreamConfig[],
  { subjects, replicas }: PlatformStreamOptions,
): Promise<readonly string[]> {
  const ours = existing.find(isOurs)
  const taken = existing.filter((config) => config !== ours).flatMap(subjectsOf)
  const wanted = subjects.filter((subject) => !taken.some((other) => patternsCollide(subject, other)))
  const current = ours ? subjectsOf(ours) : []
  const missing = notCovered(wanted, current)
  if (missing.length === 0) return missing
  if (ours) await streams.update(STREAM_NAME, { subjects: [...missing, ...notCovered(current, missing)] })
  else await streams.add(newStream(missing, replicas))
  return missing
}

/**
 * Gives the stream `PLATFORM` the wanted number of replicas, and returns the former number; undefined when nothing is to
 * be changed. Rejects if the server refuses, for example because the cluster has fewer servers.
 */
export async function ensureReplicas(
  { streams }: JetStream,
  existing: readonly StreamConfig[],
  replicas: number | undefined,
): Promise<number | undefined> {
  const ours = existing.find(isOurs)
  if (!ours || replicas === undefined || ours.num_replicas === replicas) return undefined
  await streams.update(STREAM_NAME, { num_replicas: replicas })
  return ours.num_replicas
}

/** A mirror has no subjects. */
export function subjectsOf(config: StreamConfig): readonly string[] {
  return config.subjects ?? []
}

/** Whether the platform has created the stream. */
export function isOurs({ name, description }: StreamConfig): boolean {
  return name === STREAM_NAME && description === DESCRIPTION
}

function notCovered(patterns: readonly string[], by: readonly string[]): string[] {
  return patterns.filter((pattern) => !by.some((wider) => patternCovers(wider, pattern)))
}

function newStream(subjects: readonly string[], replicas: number | undefined) {
  return {
    name: STREAM_NAME,
    description: DESCRIPTION,
    subjects: [...subjects],
    storage: StorageType.File,
    max_age: nanos(MAX_AGE_MS),
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
}
