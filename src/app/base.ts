import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Config, LoadedConfig } from '../config/config.ts'
import { keepIdentityKey } from '../config/secrets.ts'
import { isGuessable } from '../config/signing-keys.ts'
import type { Messages } from '../domains/messages/index.ts'
import type { Telemetry } from '../domains/telemetry/index.ts'
import { Dispatcher } from '../infra/bus/dispatcher.ts'
import { createNatsBus } from '../infra/bus/nats.ts'
import { operationsRoutes, probeRoutes } from '../infra/http/operations.ts'
import { createMetrics } from '../infra/metrics/metrics.ts'
import type { Bus } from '../kernel/bus.ts'
import { systemClock } from '../kernel/clock.ts'
import { errorMessage } from '../kernel/errors.ts'
import type { Job } from '../kernel/job.ts'
import { identityKeyOf } from '../kernel/identity-signature.ts'
import { Lifecycle } from '../kernel/process.ts'
import { type Logger, OUTAGES } from '../kernel/logger.ts'
import { exposeGauges, type Metrics } from '../kernel/metrics.ts'
import type { RotatedKeys } from '../kernel/secret.ts'
import { SECOND } from '../kernel/time.ts'
import type { Delivery, Outbox } from '../ports/outbox.ts'
import type { PaymentChannel } from '../ports/payments.ts'
import { createLease } from '../store/work/lease.ts'
import { readOnly } from '../store/open.ts'
import { markProcess } from '../store/work/marks.ts'
import type { Store } from '../store/store.ts'
import type { Route } from '../wire/route.ts'
import { openCurrentDatabase } from './database.ts'
import { openChannels } from './payment-channels.ts'
import { createDomains, eventSubjects, type Domains } from './domains.ts'
import { hasSigningKey, openSigningKeys } from './signing-keys.ts'
import { openSpans } from './spans.ts'
import { COMMIT, VERSION } from './version.ts'

/** The parts that all modules share; created once, and closed in reverse order. */
export interface Base {
  readonly config: Config
  /** The settings in effect, for people. */
  readonly settings: LoadedConfig['settings']
  /** The absolute path of the configuration file. */
  readonly configFile: LoadedConfig['file']
  readonly logger: Logger
  readonly metrics: Metrics
  readonly store: Store
  /** Whether the log has said that the database is unavailable. */
  readonly isDatabaseOut: () => boolean
  readonly bus: Bus
  readonly domains: Domains
  /** Which keys sign and verify tokens. */
  readonly keys: RotatedKeys
  readonly lifecycle: Lifecycle
  readonly operations: readonly Route[]
  /** What every process does again and again, whatever its modules are; nothing if it is read-only. */
  readonly jobs: readonly Job[]
}

// How long other processes wait for a holder that has stopped renewing its lease.
const DELIVERY_LEASE_MS = 10 * SECOND
// How old the numbers of a scrape may be; one that reads those of the outbox counts up to 100,000 rows.
const NUMBERS_AGE_MS = 5 * SECOND

/** Opens the shared parts; `resources` closes them. */
export async function openBase(
  { config, settings, configFile, logger }: Pick<Base, 'config' | 'settings' | 'configFile' | 'logger'>,
  resources: AsyncDisposableStack,
): Promise<Base> {
  // Throws if there is one that cannot be used: the first thing to say, whatever else is wrong.
  hasSigningKey(config)
  const { metrics, expose, close } = createMetrics({ logger })
  resources.defer(close)
  resources.use(await openSpans(config, 'platform'))
  exposeProcess(metrics, config)
  exposeDisk(metrics, config)
  const hadLog = hasLog(config.database)
  const parts = { config, configFile, logger, metrics }
  const database = await openCurrentDatabase({ ...parts, readOnly: config.readOnly })
  resources.defer(() => database.close())
  await markProcessOf({ config, logger }, { database, hadLog }, resources)
  const store = config.readOnly ? readOnly(database) : database
  const bus = createNatsBus({
    servers: config.bus.server.urls.reveal(),
    replicas: config.bus.replicas,
    name: `platform ${VERSION} on ${hostname()}`,
    streamSubjects: eventSubjects(),
    clock: systemClock,
    logger: logger.child({ part: 'bus' }),
    metrics,
  })
  resources.defer(() => bus.close())
  // Read now, so that an unreadable key makes the start fail and not a request.
  const keys = await openSigningKeys(config, database, logger)
  const channels = await openChannels(config, resources)
  const { domains, jobs, deliveries } = openDomains(
    { config, logger, metrics, store, bus, keys, channels },
    resources,
  )
  const lifecycle = new Lifecycle()
  const checkStore = () => store.check()
  const health = operationsRoutes({
    version: VERSION,
    commit: COMMIT,
    modules: config.modules,
    readOnly: config.readOnly,
    clock: systemClock,
    checkStore,
    bus: busHealth(bus, deliveries),
    mirror: domains.users.follower,
    exposeMetrics: () => expose(),
  })
  const operations = [...health, ...probeRoutes({ lifecycle, checkStore })]
  const isDatabaseOut = () => database.isOut()
  return { ...parts, settings, store, isDatabaseOut, bus, domains, keys, lifecycle, operations, jobs }
}

/** Whether a process has left a write-ahead log; a command that only reads leaves an empty one. */
function hasLog(database: Config['database']): boolean {
  if (database.kind !== 'sqlite') return false
  const stats = statSync(`${database.path}-wal`, { throwIfNoEntry: false })
  return stats !== undefined && stats.size > 0
}

const AFTER_CRASH =
  'a process of the platform did not stop in order: the worker checks the pages of the database file'

/** Records that this process serves a SQLite file, until it stops in order. */
async function markProcessOf(
  { config, logger }: Pick<Base, 'config' | 'logger'>,
  { database, hadLog }: { readonly database: Store; readonly hadLog: boolean },
  resources: AsyncDisposableStack,
): Promise<void> {
  if (config.readOnly || config.database.kind !== 'sqlite') return
  // A full disk keeps the process neither from its start nor from its end; its log says so.
  const mark = await markProcess(database, hadLog).catch(() => undefined)
  resources.defer(() => mark?.remove().catch(() => undefined))
  if (mark?.isAfterCrash === true) logger.warn({}, AFTER_CRASH)
}

interface BaseParts extends Omit<
  Base,
  'settings' | 'configFile' | 'isDatabaseOut' | 'domains' | 'lifecycle' | 'operations' | 'jobs'
> {
  readonly channels: ReadonlyMap<string, PaymentChannel>
}

const GUESSABLE_KEY =
  'auth.jwt_secret has a key that is easy to guess, and the key signs tokens for every user: replace it (openssl rand -base64 48)'

/** The domains write to the outboxes and the dispatchers read them, so the dispatchers are created after the domains. */
function openDomains(
  parts: BaseParts,
  resources: AsyncDisposableStack,
): Pick<Base, 'domains' | 'jobs'> & { readonly deliveries: readonly LateDelivery[] } {
  const deliveries = { delivery: new LateDelivery(), telemetryDelivery: new LateDelivery() }
  const { delivery, telemetryDelivery } = deliveries
  const { config, store, logger, metrics, keys, channels } = parts
  if (keys.some((key) => isGuessable(key.reveal()))) logger.warn({}, GUESSABLE_KEY)
  if (!config.readOnly) keepKeyOfIdentities(config, identityKeyOf(keys[0].reveal()), logger)
  const ports = { ...deliveries, signingKeys: () => keys, channels }
  const domains = createDomains({ config, store, clock: systemClock, logger, metrics, ...ports })
  exposeTelemetry(domains.telemetry.service, metrics)
  resources.defer(() => domains.events.service.close())
  // A read-only process cannot record a delivery, so it does not deliver.
  if (config.readOnly) return { domains, jobs: [], deliveries: [] }
  const { service: messages } = domains.messages
  exposeBacklog(messages, metrics)
  const start = (name: string, outbox: Outbox) => startDispatcher(parts, { name, outbox }, resources)
  delivery.dispatcher = start('delivery', messages)
  telemetryDelivery.dispatcher = start('telemetry-delivery', domains.telemetry.outbox)
  const jobs = [busStreamJob(parts.bus, delivery, messages)]
  return { domains, jobs, deliveries: [delivery, telemetryDelivery] }
}

/** A bus that answers and takes no messages is not healthy, either. */
function busHealth(bus: Bus, deliveries: readonly LateDelivery[]): Pick<Bus, 'state' | 'problem'> {
  return {
    get state() {
      return bus.state
    },
    get problem() {
      const isRefused = deliveries.some(({ dispatcher }) => dispatcher?.isRefused)
      return bus.problem ?? (isRefused ? OUTAGES.delivery.fails : undefined)
    },
  }
}

const STREAM_EVERY_MS = 30 * SECOND

/** Finds a stream that was made anew, as by a bus that has lost its files, and a bus that stores nothing. */
function busStreamJob(
  bus: Pick<Bus, 'streamMadeAt' | 'unstoredSince'>,
  { dispatcher }: LateDelivery,
  messages: Pick<Messages, 'noteStream' | 'noteUnstored'>,
): Job {
  return {
    name: 'bus-stream',
    everyMs: STREAM_EVERY_MS,
    async run() {
      // With two processes that have a bus each, the one that delivers knows where the messages go.
      if (dispatcher?.isDelivering !== true) return
      const { streamMadeAt, unstoredSince } = bus
      if (unstoredSince !== undefined) await messages.noteUnstored(unstoredSince)
      if (streamMadeAt !== undefined) await messages.noteStream(streamMadeAt)
    },
  }
}

/** Programs without it are recognised only from trusted peers, so the platform starts all the same. */
function keepKeyOfIdentities({ dataDir }: Config, key: Buffer, logger: Logger): void {
  // With PostgreSQL and a configured key there may be no data directory.
  if (!existsSync(dataDir)) return
  try {
    keepIdentityKey(dataDir, key)
  } catch (error) {
    logger.warn({ reason: errorMessage(error) }, 'the file identity-key cannot be written')
  }
}

/** The delivery of an outbox whose dispatcher is created later, or never. */
class LateDelivery implements Delivery {
  dispatcher: Dispatcher | undefined

  wake(): void {
    this.dispatcher?.wake()
  }

  waitForSettlement(id: string, withinMs: number): Promise<void> {
    return this.dispatcher?.waitForSettlement(id, withinMs) ?? Promise.resolve()
  }
}

/** `name` is the name of the lease: only one process at a time delivers an outbox. */
function startDispatcher(
  { bus, store, logger, metrics }: BaseParts,
  { name, outbox }: { readonly name: string; readonly outbox: Outbox },
  resources: AsyncDisposableStack,
): Dispatcher {
  const clock = systemClock
  const lease = createLease({ store, clock, name, ttlMs: DELIVERY_LEASE_MS })
  const named = logger.child({ part: name })
  const dispatcher = new Dispatcher({ bus, outbox, lease, clock, logger: named, metrics })
  resources.defer(() => dispatcher.close())
  dispatcher.start()
  return dispatcher
}

function exposeProcess(metrics: Metrics, { readOnly: isReadOnly }: Config): void {
  const labels = ['version', 'node']
  const build = metrics.gauge({ name: 'build_info', help: 'Always 1; the labels name the versions.', labels })
  build.set(1, { version: VERSION, node: process.version })
  const help = 'Whether this process refuses changes (1) or not (0).'
  metrics.gauge({ name: 'read_only', help }).set(isReadOnly ? 1 : 0)
}

function exposeDisk(metrics: Metrics, { dataDir }: Config): void {
  const helps = {
    disk_free_bytes: 'Free space of the file system with the data directory.',
    disk_size_bytes: 'Size of the file system with the data directory.',
  }
  const read = async () => {
    // With PostgreSQL and a configured key there is no data directory.
    const disk = await statfs(dataDir).catch(() => undefined)
    return disk && { disk_free_bytes: disk.bavail * disk.bsize, disk_size_bytes: disk.blocks * disk.bsize }
  }
  exposeGauges(metrics, helps, read, NUMBERS_AGE_MS)
}

function exposeBacklog(outbox: Messages, metrics: Metrics): void {
  const helps = {
    outbox_pending: 'Messages that are not yet delivered, counted up to 100,000.',
    outbox_oldest_seconds: 'Age of the oldest undelivered message.',
    outbox_dead:
      'Messages that the bus has refused for good, items of telemetry among them, counted up to 100,000.',
  }
  const read = async () => {
    const { pending, oldest } = await outbox.backlog()
    const { messages } = await outbox.deadLetters()
    const ageMs = oldest === null ? 0 : systemClock.now() - oldest
    return { outbox_pending: pending, outbox_dead: messages, outbox_oldest_seconds: ageMs / SECOND }
  }
  exposeGauges(metrics, helps, read, NUMBERS_AGE_MS)
}

function exposeTelemetry(telemetry: Telemetry, metrics: Metrics): void {
  const helps = {
    telemetry_pending: 'Items of telemetry that wait for the bus.',
    telemetry_pending_bytes: 'Size of the items of telemetry that wait for the bus.',
    telemetry_agents: 'Agents that are remembered.',
  }
  const read = async () => {
    const { pending, pendingBytes, agents } = await telemetry.totals()
    return { telemetry_pending: pending, telemetry_pending_bytes: pendingBytes, telemetry_agents: agents }
  }
  exposeGauges(metrics, helps, read, NUMBERS_AGE_MS)
}
