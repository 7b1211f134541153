import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import { subjectsOf } from './jetstream.ts'
import { awaitGreeting, connectLimited, parseServer } from './transport.ts'
import { patternCovers } from './subjects.ts'

/** What can be learned of a message bus without changing it. */
export interface BusFacts {
  /** Without credentials. */
  readonly address: string
  readonly version: string
  readonly maxPayloadBytes: number
  /** Undefined for an account without JetStream. */
  readonly jetStream: JetStreamFacts | undefined
}

interface JetStreamFacts {
  /** In epoch milliseconds, as its last answer says; older servers do not say. */
  readonly clockMs: number | undefined
  readonly usedBytes: number
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined
  /** The patterns of the platform that no stream takes. */
  readonly missingSubjects: readonly string[]
  readonly streams: readonly StreamFacts[]
}

/** A stream that takes subjects of the platform. */
interface StreamFacts {
  readonly name: string
  readonly bytes: number
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined
  readonly acknowledges: boolean
}

const TIMEOUT_MS = 3 * SECOND

/** Asks the first server that answers. Rejects with the reason for each server if none does. */
export async function inspectBus(servers: readonly string[], subjects: readonly string[]): Promise<BusFacts> {
  const reasons: string[] = []
  for (const server of servers.map(parseServer)) {
    try {
      await awaitGreeting(server, AbortSignal.timeout(TIMEOUT_MS))
      const connection = await connectLimited({
        ...server.credentials,
        ...(server.tls ? { tls: {} } : {}),
        servers: server.address,
        name: 'platform doctor',
        timeout: TIMEOUT_MS,
        reconnect: false,
      })
      try {
        return await factsOf(connection, server.address, subjects)
      } finally {
        await connection.close()
      }
    } catch (error) {
      reasons.push(errorMessage(error))
    }
  }
  throw new Error(reasons.join('; '))
}

async function factsOf(
  connection: NatsConnection,
  address: string,
  subjects: readonly string[],
): Promise<BusFacts> {
  const { version = 'unknown', max_payload: maxPayloadBytes = 0, jetstream = false } = connection.info ?? {}
  const jetStream = jetstream ? await jetStreamFacts(connection, subjects) : undefined
  return { address, version, maxPayloadBytes, jetStream }
}

async function jetStreamFacts(
  connection: NatsConnection,
  subjects: readonly string[],
): Promise<JetStreamFacts> {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS })
  const account = await manager.getAccountInfo()
  const streams = await Array.fromAsync(manager.streams.list())
  const taken = streams.flatMap(({ config }) => subjectsOf(config))
  const answeredAt = streams.at(-1)?.ts
  return {
    clockMs: answeredAt === undefined ? undefined : Date.parse(answeredAt),
    usedBytes: account.storage,
    limitBytes: limitOf(account.limits.max_storage),
    missingSubjects: subjects.filter((subject) => !taken.some((pattern) => patternCovers(pattern, subject))),
    streams: streams
      .filter(({ config }) =>
        subjectsOf(config).some((pattern) => subjects.some((subject) => patternCovers(pattern, subject))),
      )
      .map(({ config, state }) => ({
        name: config.name,
        bytes: state.bytes,
        limitBytes: limitOf(config.max_bytes),
        acknowledges: !config.no_ack && !config.sealed,
      })),
  }
}

/** The server writes no limit as -1 or 0. */
function limitOf(bytes: number): number | undefined {
  return bytes > 0 ? bytes : undefined
}
