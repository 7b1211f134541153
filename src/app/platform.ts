import { hostname } from 'node:os'
import type { Config } from '../config/config.ts'
import { MODULES as ALL_MODULES, type ModuleName } from '../config/value-types.ts'
import { alertRoutes, createAlertService } from '../domains/alerts/index.ts'
import {
  createMessageService,
  messagePruneJob,
  messageRoutes,
  type Delivery,
} from '../domains/messages/index.ts'
import { createOrderService, orderCountJob, orderRoutes, orderTimeoutJob } from '../domains/orders/index.ts'
import { createAuthenticator, userRoutes, type Users } from '../domains/users/index.ts'
import { createDispatcher, type Dispatcher } from '../infra/bus/dispatcher.ts'
import { createNatsBus } from '../infra/bus/nats.ts'
import { errorAnswer } from '../infra/http/errors.ts'
import { createIdentify } from '../infra/http/identity.ts'
import { operationsRoutes } from '../infra/http/operations.ts'
import { createHttpServer, type HttpServer } from '../infra/http/server.ts'
import { createMetrics } from '../infra/metrics/metrics.ts'
import type { Bus, BusState } from '../kernel/bus.ts'
import { systemClock } from '../kernel/clock.ts'
import { invalidField } from '../kernel/errors.ts'
import type { Job } from '../kernel/job.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Secret } from '../kernel/secret.ts'
import { HOUR, SECOND } from '../kernel/time.ts'
import { createLease } from '../store/lease.ts'
import { createOnce, type Once } from '../store/once.ts'
import { readOnly } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { openCurrentDatabase } from './database.ts'
import { createIdentities, jwtSecret } from './identities.ts'
import { startJobs } from './jobs.ts'
import { VERSION } from './version.ts'

export interface PlatformOptions {
  readonly config: Config
  readonly logger: Logger
  /** Told once, when the first start has made the first user. */
  readonly onFirstAdmin: (admin: FirstAdmin) => void
}

export interface FirstAdmin {
  readonly name: string
  readonly password: Secret
}

export interface Platform {
  /** The configured servers of the bus, for people. */
  readonly busServers: string
  busState(): BusState
  /** Stops accepting, finishes what is under way, closes everything; may be called twice. */
  stop(): Promise<void>
}

/** What every module stands on; made once, and closed in reverse order. */
interface Base {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly store: Store
  readonly bus: Bus
  readonly delivery: Delivery
  readonly operations: ReturnType<typeof operationsRoutes>
}

// Others wait so long for a process that has gone silent while it delivered.
const DELIVERY_LEASE_MS = 10 * SECOND

/** Opens everything that the configured modules need, and starts them. Rejects, with nothing left open, when one fails. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  await using opening = new AsyncDisposableStack()
  const modules = runnableModules(options.config.modules)
  const base = await openBase({ ...options, config: { ...options.config, modules } }, opening)
  const jobs: Job[] = []
  for (const module of modules) jobs.push(...(await MODULES[module](base, options, opening)))
  if (!base.config.readOnly) {
    const runner = startJobs(jobs, { clock: systemClock, logger: base.logger, metrics: base.metrics })
    opening.defer(() => runner.stop())
  }
  const opened = opening.move()
  return {
    busServers: base.config.bus.text,
    busState: () => base.bus.state,
    stop: () => opened.disposeAsync(),
  }
}

type RunnableModule = Exclude<ModuleName, 'gateway'>

/** What each module opens, and the jobs that it brings. */
const MODULES: Readonly<
  Record<
    RunnableModule,
    (base: Base, options: PlatformOptions, opening: AsyncDisposableStack) => Promise<Job[]>
  >
> = { api: openApi, worker: openWorker }

/** `all` is whatever this release has; a gateway that is asked for by name must not be missing silently. */
function runnableModules(modules: readonly ModuleName[]): RunnableModule[] {
  const runnable = modules.filter((module) => module !== 'gateway')
  if (runnable.length === modules.length || modules.length === ALL_MODULES.length) return runnable
  throw invalidField('module', 'gateway is not part of this release; choose api, worker or all')
}

async function openBase({ config, logger }: PlatformOptions, opening: AsyncDisposableStack): Promise<Base> {
  const { metrics, expose, close } = createMetrics({ logger })
  opening.defer(close)
  const database = await openCurrentDatabase({ config, logger, metrics })
  opening.defer(() => database.close())
  const store = config.readOnly ? readOnly(database) : database
  const bus = createNatsBus({
    servers: config.bus.urls.reveal(),
    name: `platform ${VERSION} on ${hostname()}`,
    logger: logger.child({ part: 'bus' }),
    metrics,
  })
  opening.defer(() => bus.close())
  const delivery = openDelivery({ config, logger, metrics, store, bus }, opening)
  const operations = operationsRoutes({
    version: VERSION,
    modules: config.modules,
    clock: systemClock,
    checkStore: () => store.check(),
    busState: () => bus.state,
    exposeMetrics: () => expose(),
  })
  return { config, logger, metrics, store, bus, delivery, operations }
}

/** Delivery reads and settles the outbox, which needs no delivery itself: hence a service of its own. */
function openDelivery(
  { config, logger, metrics, store, bus }: Omit<Base, 'delivery' | 'operations'>,
  opening: AsyncDisposableStack,
): Delivery {
  const parts = { store, clock: systemClock, logger, metrics }
  let dispatcher: Dispatcher | undefined = undefined
  const delivery: Delivery = {
    wake: () => dispatcher?.wake(),
    settled: (id, withinMs) => dispatcher?.settled(id, withinMs) ?? Promise.resolve(),
  }
  // A read-only process may not even note that something was delivered.
  if (config.readOnly) return delivery
  const { messages: outbox } = createDomains({ ...parts, config, delivery, module: 'outbox' })
  const lease = createLease({ store, clock: systemClock, name: 'delivery', ttlMs: DELIVERY_LEASE_MS })
  dispatcher = createDispatcher({ bus, outbox, lease, clock: systemClock, logger, metrics })
  opening.defer(() => dispatcher?.close())
  const pending = metrics.gauge({
    name: 'outbox_pending',
    help: 'Messages that wait for the bus, at most 100,000.',
  })
  const age = metrics.gauge({ name: 'outbox_oldest_seconds', help: 'Age of the oldest message that waits.' })
  metrics.onScrape(async () => {
    const { pending: waiting, oldest } = await outbox.backlog()
    pending.set(waiting)
    age.set(oldest === null ? 0 : (systemClock.now() - oldest) / 1_000)
  })
  dispatcher.start()
  return delivery
}

interface DomainParts {
  readonly config: Config
  readonly store: Store
  readonly clock: typeof systemClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly delivery: Delivery
  /** Whose events these domains write. */
  readonly module: string
}

/** The domains, wired to one another. Messages raise alerts and alerts write messages, so one of them is told late. */
function createDomains(parts: DomainParts) {
  const messages = createMessageService({
    ...parts,
    alerts: { raise: (tx, alert) => alerts.raise(tx, alert) },
  })
  const alerts = createAlertService({ ...parts, events: messages })
  const orders = createOrderService({
    ...parts,
    expiryMs: parts.config.orders.expiryMs,
    events: messages,
    alerts,
  })
  return { messages, alerts, orders }
}

async function openApi(
  base: Base,
  { onFirstAdmin }: PlatformOptions,
  opening: AsyncDisposableStack,
): Promise<Job[]> {
  const { config, logger, metrics } = base
  const secret = jwtSecret(config)
  const once = createOnce({ store: base.store, clock: systemClock, secret, toAnswer: errorAnswer })
  const { messages, alerts, orders } = createDomains({
    ...base,
    store: once.store,
    clock: systemClock,
    module: 'api',
  })
  const { users, auth, tokens } = createIdentities({
    secret,
    tokenTtlMs: config.auth.tokenTtlMs,
    store: once.store,
    clock: systemClock,
    logger,
    metrics,
  })
  if (!config.readOnly) await makeFirstAdmin(users, onFirstAdmin)
  const authenticator = createAuthenticator({ store: base.store, clock: systemClock, users, tokens })
  const server = await createHttpServer({
    ...httpOptions(base),
    onceOnly: once,
    routes: [
      ...orderRoutes(orders),
      ...messageRoutes(messages),
      ...alertRoutes(alerts),
      ...userRoutes(users, auth),
      ...base.operations,
    ],
    identify: createIdentify({ authenticator, trustedProxies: config.auth.trustedProxies }),
  })
  await listen(server, 'api', config.api.listen, logger, opening)
  return [orderCountJob(orders, metrics), idempotencyPruneJob(once)]
}

async function makeFirstAdmin(users: Users, tell: PlatformOptions['onFirstAdmin']): Promise<void> {
  const admin = await users.ensureFirstAdmin()
  if (admin) tell(admin)
}

async function openWorker(
  base: Base,
  _options: PlatformOptions,
  opening: AsyncDisposableStack,
): Promise<Job[]> {
  const { config, logger } = base
  const { messages, orders } = createDomains({ ...base, clock: systemClock, module: 'worker' })
  if (config.worker.listen) {
    const server = await createHttpServer({
      ...httpOptions(base),
      routes: base.operations,
      identify: () => undefined,
    })
    await listen(server, 'worker', config.worker.listen, logger, opening)
  }
  return [
    orderTimeoutJob(orders, config.worker.orderScanMs),
    messagePruneJob(messages, systemClock, config.messages.keepMs),
  ]
}

function httpOptions({ config, logger, metrics }: Base) {
  return {
    logger,
    metrics,
    version: VERSION,
    readOnly: config.readOnly,
    rateLimitPerMinute: config.api.rateLimitPerMinute,
  }
}

async function listen(
  server: HttpServer,
  module: string,
  address: { host: string; port: number },
  logger: Logger,
  opening: AsyncDisposableStack,
): Promise<void> {
  opening.defer(() => server.close())
  logger.info({ module, address: await server.listen(address) }, 'listening')
}

function idempotencyPruneJob(once: Once): Job {
  return {
    name: 'idempotency-prune',
    everyMs: HOUR,
    run: async () => {
      await once.prune()
    },
  }
}
