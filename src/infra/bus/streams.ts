import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import { jetstreamManager, JetStreamApiError, StorageType } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { nanos, PermissionViolationError, TimeoutError } from '@nats-io/transport-node'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { DAY, MINUTE } from '../../kernel/time.ts'
import { matcherOf, patternsCollide } from './subjects.ts'

const STREAM_NAME = 'PLATFORM'

/** The platform's subjects (contract, section 4). */
const STREAM_SUBJECTS = [
  'order.>',
  'ticket.>',
  'alert.>',
  'certificate.>',
  'vpn.audit.>',
  'telemetry.agent.>',
]

const STREAM_MAX_AGE_MS = 7 * DAY

/**
 * A publish whose acknowledgement was lost is sent again as soon as the bus is back, so the window has to outlast an
 * outage: half an hour covers a restart, a reboot and a person who is called to it. Not more, because the server
 * keeps every id of the window in memory. Receivers drop by id what comes later than that.
 */
const DUPLICATE_WINDOW_MS = 30 * MINUTE

/** How long a stream that an operator adds may go unnoticed; until then its messages are confirmed by a flush. */
const FRESH_MS = MINUTE

const API_TIMEOUT_MS = 5_000

/** For a server that says it has no JetStream; another one of its cluster may still answer for it. */
const FOREIGN_API_TIMEOUT_MS = 1_000

/** Which subjects the server's streams store, and so acknowledge. */
export interface Coverage {
  /** Makes the platform's stream where it is missing. False: this server has no JetStream for us. */
  prepare(): Promise<boolean>
  /** A test for subjects; asks the server when the last answer is older than a minute. Rejects if that fails. */
  read(): Promise<RegExp>
  /** The answer was wrong: the next `read` asks again. */
  forget(): void
}

/** Finds the coverage on each connection of one bus, and remembers a server that turned out to have no streams. */
export function createCoverageFinder(logger: Logger): (connection: NatsConnection) => Promise<Coverage> {
  // A server's id is new with each start, and JetStream does not come to a running server.
  let bareServerId: string | undefined

  return async function findCoverage(connection) {
    const serverId = connection.info?.server_id
    const timeout = hasJetStream(connection) ? API_TIMEOUT_MS : FOREIGN_API_TIMEOUT_MS
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout })
    return createCoverage(manager, logger, async () => {
      if (serverId !== undefined && serverId === bareServerId) return undefined
      const patterns = await readPatterns(connection, manager)
      if (!patterns) bareServerId = serverId
      return patterns
    })
  }
}

function createCoverage(
  manager: JetStreamManager,
  logger: Logger,
  ask: () => Promise<Patterns | undefined>,
): Coverage {
  let known: { readonly matcher: RegExp; readonly until: number } | undefined

  async function load() {
    const patterns = await ask()
    known = { matcher: matcherOf(patterns?.acknowledged ?? []), until: systemClock.monotonic() + FRESH_MS }
    return { ...known, taken: patterns?.all }
  }

  return {
    async prepare() {
      const { taken } = await load()
      if (taken && (await createStream(manager, taken, logger))) await load()
      return taken !== undefined
    },
    async read() {
      const isFresh = known !== undefined && systemClock.monotonic() < known.until
      return known && isFresh ? known.matcher : (await load()).matcher
    },
    forget() {
      known = undefined
    },
  }
}

interface Patterns {
  readonly all: readonly string[]
  /** Without those of streams that store but never acknowledge. */
  readonly acknowledged: readonly string[]
}

/** The subjects of every stream; undefined when JetStream is not there for us. */
async function readPatterns(
  connection: NatsConnection,
  manager: JetStreamManager,
): Promise<Patterns | undefined> {
  try {
    const configs = await Array.fromAsync(manager.streams.list(), (stream) => stream.config)
    const acknowledging = configs.filter((config) => !config.no_ack && !config.sealed)
    return { all: configs.flatMap(subjectsOf), acknowledged: acknowledging.flatMap(subjectsOf) }
  } catch (error) {
    if (isWithoutJetStream(connection, error)) return undefined
    throw error
  }
}

/** A mirror has none. */
function subjectsOf(config: StreamConfig): readonly string[] {
  return config.subjects ?? []
}

/**
 * Silence of a server that says it has JetStream passes (a cluster that elects, a store that was switched off):
 * it is an error, so that messages wait instead of slipping past their stream's acknowledgement. A server without it
 * is silent, instead of saying that nobody responds, as soon as someone subscribes to all subjects.
 */
function isWithoutJetStream(connection: NatsConnection, error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.cause instanceof PermissionViolationError) return true
  if (error.name === 'JetStreamNotEnabled' && error.cause instanceof JetStreamApiError) return true
  const isSilent = error.name === 'JetStreamNotEnabled' || error instanceof TimeoutError
  return isSilent && !hasJetStream(connection)
}

function hasJetStream(connection: NatsConnection): boolean {
  return connection.info?.jetstream === true
}

/** True when a stream was made. What an operator's stream already takes, wholly or in part, stays as it is. */
async function createStream(
  manager: JetStreamManager,
  taken: readonly string[],
  logger: Logger,
): Promise<boolean> {
  const subjects = STREAM_SUBJECTS.filter((ours) => !taken.some((theirs) => patternsCollide(ours, theirs)))
  if (subjects.length === 0) return false
  try {
    await manager.streams.add(streamConfig(subjects))
    logger.info({ stream: STREAM_NAME, subjects }, 'bus stream created')
    return true
  } catch (error) {
    // Without a stream the messages are confirmed by a flush: they reach subscribers, but nobody stores them.
    logger.warn(
      { stream: STREAM_NAME, subjects, reason: errorMessage(error) },
      'bus stream could not be created',
    )
    return false
  }
}

function streamConfig(subjects: readonly string[]) {
  return {
    name: STREAM_NAME,
    description: 'Events of the platform, made by it when it found no stream for them',
    subjects: [...subjects],
    storage: StorageType.File,
    max_age: nanos(STREAM_MAX_AGE_MS),
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  }
}
