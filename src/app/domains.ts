import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { BACKUP_ALERTS } from '../../programs/backup/declared-alerts.ts'
import { TICKET_NOTIFY_ALERTS } from '../../programs/ticket-notify/declared-alerts.ts'
import type { Config } from '../config/config.ts'
import { ROBOT_RECEIVER } from '../config/receivers.ts'
import {
  keepAuditSeal,
  readAuditKeys,
  readAuditSeal,
  readMirrorToken,
  readOrCreateAuditKeys,
} from '../config/secrets.ts'
import { alertsDomain } from '../domains/alerts/index.ts'
import { auditDomain, type AuditFiles, formatSeal, parseSeal } from '../domains/audit/index.ts'
import { certificatesDomain } from '../domains/certificates/index.ts'
import { commandsDomain } from '../domains/commands/index.ts'
import { dataBackupsDomain } from '../domains/data-backups/index.ts'
import { eventsDomain, type SubjectsByLog } from '../domains/events/index.ts'
import { heartbeatsDomain } from '../domains/heartbeats/index.ts'
import { menusDomain } from '../domains/menus/index.ts'
import { messagesDomain } from '../domains/messages/index.ts'
import { ordersDomain } from '../domains/orders/index.ts'
import { overviewDomain } from '../domains/overview/index.ts'
import { paymentsDomain } from '../domains/payments/index.ts'
import { poolDomain } from '../domains/pool/index.ts'
import { sessionsDomain } from '../domains/sessions/index.ts'
import { signInDomain, type SignInSettings } from '../domains/sign-in/index.ts'
import { telemetryDomain } from '../domains/telemetry/index.ts'
import { ticketsDomain } from '../domains/tickets/index.ts'
import { type MirrorOptions, usersDomain } from '../domains/users/index.ts'
import { webhooksDomain } from '../domains/webhooks/index.ts'
import { PrimaryUsers } from '../infra/mirror/primary.ts'
import { CertificateDirectory } from '../infra/files/certificate-directory.ts'
import { OidcProvider } from '../infra/oidc/oidc-provider.ts'
import { createPasswords } from '../infra/passwords/pbkdf2.ts'
import { HostPrograms } from '../infra/programs/programs.ts'
import { createTokens, type Tokens } from '../infra/tokens/jwt.ts'
import { AddressRules } from '../infra/webhooks/addresses.ts'
import { HttpWebhookCaller } from '../infra/webhooks/webhook-caller.ts'
import { GATEWAY_ERRORS } from '../infra/ws/gateway-routes.ts'
import type { Clock, WaitingClock } from '../kernel/clock.ts'
import { late } from '../kernel/late.ts'
import { type AlertTable, DeclaredAlerts } from '../kernel/alerts.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { RotatedKeys } from '../kernel/secret.ts'
import type { RecoverableAlerts } from '../ports/alerts.ts'
import type { EventSink } from '../ports/events.ts'
import type { OrderPayments, PaymentChannel } from '../ports/payments.ts'
import type { Delivery } from '../ports/outbox.ts'
import { findDamage } from '../store/files/inspect-database.ts'
import { createSnapshots } from '../store/files/snapshot.ts'
import type { Store } from '../store/store.ts'
import type { Domain, DomainParts, EventType } from '../wire/domain.ts'
import { type DeclaredSubject, eventSource, EventSubjects, matchesPattern } from '../kernel/events.ts'
import { COMMON_ERRORS, type ErrorCodes, SHARED_ERRORS } from '../wire/error-codes.ts'
import { createOverview } from './overview.ts'
import { openReceivers } from './receivers.ts'
import { VERSION } from './version.ts'

/**
 * Every domain. Tables, event subjects, error codes, routes and jobs follow from this list; {@link createDomains} passes
 * to each domain what it needs of the others.
 */
export const DOMAINS = [
  messagesDomain,
  alertsDomain,
  ordersDomain,
  paymentsDomain,
  usersDomain,
  poolDomain,
  sessionsDomain,
  telemetryDomain,
  eventsDomain,
  ticketsDomain,
  heartbeatsDomain,
  menusDomain,
  certificatesDomain,
  signInDomain,
  dataBackupsDomain,
  commandsDomain,
  webhooksDomain,
  overviewDomain,
  auditDomain,
] as const

/** Every code of an error body, with its HTTP status. */
export const ERROR_CODES: ErrorCodes = Object.assign(
  {},
  COMMON_ERRORS,
  SHARED_ERRORS,
  GATEWAY_ERRORS,
  ...DOMAINS.map(({ errors }) => errors),
)

/** Every alert of the platform and of its programs. */
export const DECLARED_ALERTS: AlertTable = Object.assign(
  {},
  ...DOMAINS.map(({ alerts = {} }: Domain) => alerts),
  BACKUP_ALERTS,
  TICKET_NOTIFY_ALERTS,
)

/** The subject of each event with the schema of its data. */
export const EVENT_TYPES: readonly EventType[] = DOMAINS.flatMap(
  ({ name, events, eventSchemas = {} }: Domain) =>
    Object.values(events).flatMap((subject) => {
      const [, schema] =
        Object.entries(eventSchemas).find(([pattern]) => matchesPattern(pattern, subject)) ?? []
      return schema ? [{ subject, source: eventSource(name), schema }] : []
    }),
)

type DomainName = (typeof DOMAINS)[number]['name']

export interface DomainsOptions {
  readonly config: Config
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly delivery: Delivery
  /** The delivery of telemetry, which has its own outbox. */
  readonly telemetryDelivery: Delivery
  /** The keys of the tokens; called when the first token is signed or verified. */
  readonly signingKeys: () => RotatedKeys
  /** The open payment channels by name; left out: none. */
  readonly channels?: ReadonlyMap<string, PaymentChannel>
}

export type Domains = ReturnType<typeof createDomains>

/** Creates the domains of a process, once, and passes to each one the ports that it needs. */
export function createDomains(options: DomainsOptions) {
  const {
    config,
    store,
    clock,
    logger,
    metrics,
    delivery,
    telemetryDelivery,
    signingKeys,
    channels = NO_CHANNELS,
  } = options
  const platform = { store, clock, logger, metrics }
  // Messages raise alerts, and alerts write messages.
  const lateAlerts = late<RecoverableAlerts>(() => alerts.service)
  const waking = (woken: Delivery) => wakingStreams(woken, () => events.service.wake())
  const messages = messagesDomain.create({
    ...platform,
    delivery: wakingStreams(waking(delivery), () => webhooks.wake()),
    alerts: lateAlerts,
    subjects: new EventSubjects(declaredSubjects(DOMAINS)),
    keepMs: config.messages.keepMs,
  })
  const eventsOf = <T>(domain: Domain & { readonly encodeEvent: (data: T) => string }): EventSink<T> =>
    messages.service.eventsOf(domain.name, domain.encodeEvent)

  const alerts = alertsDomain.create({
    ...platform,
    events: eventsOf(alertsDomain),
    declared: new DeclaredAlerts(DECLARED_ALERTS),
    version: VERSION,
    userNames: (ids) => users.service.names(ids),
    ...alertSettings(config),
  })
  // Payments pay orders, and orders close payments.
  const latePayments = late<OrderPayments>(() => payments.service)
  const orders = ordersDomain.create({
    ...platform,
    events: eventsOf(ordersDomain),
    alerts: alerts.service,
    payments: latePayments,
    expiryMs: config.orders.expiryMs,
    scanEveryMs: config.worker.orderScanMs,
    archiveAfterMs: config.orders.archiveAfterMs,
  })
  const audit = auditDomain.create({
    ...platform,
    files: auditFiles(config),
    keepMs: config.audit.keepMs,
  })
  const payments = paymentsDomain.create({
    ...platform,
    events: eventsOf(paymentsDomain),
    alerts: alerts.service,
    orders: orders.service,
    channels,
    currency: config.payments.currency,
    timeZone: config.payments.timeZone,
    reconcileAt: config.payments.reconcileAt,
    refundLate: config.payments.refundLate,
  })
  const tokens = lazyTokens(() =>
    createTokens({ secrets: signingKeys(), clock, ttlMs: config.auth.tokenTtlMs }),
  )
  const users = usersDomain.create({
    ...platform,
    tokens,
    passwords: createPasswords(),
    sessions: late(() => sessions.service),
    vpnPool: config.vpn.ipPool.text,
    primary: config.gateway.mirrorFrom,
    audit: audit.service,
    mirror: mirrorOptions(config, clock),
  })
  const pool = poolDomain.create({
    ...platform,
    alerts: alerts.service,
    cidr: config.vpn.ipPool.text,
    coolDownMs: config.vpn.coolDownMs,
  })
  const sessions = sessionsDomain.create({
    ...platform,
    events: eventsOf(sessionsDomain),
    pool: pool.service,
    sessionsPerUser: config.vpn.sessionsPerUser,
    requireTokenHolder: users.requireTokenHolder,
    tokenHolderRows: users.tokenHolderRows,
  })
  const telemetry = telemetryDomain.create({
    ...platform,
    delivery: waking(telemetryDelivery),
    newestMessage: messages.service.newestNumber,
    alerts: alerts.service,
    deadLetters: messages.service,
    ...config.telemetry,
  })
  const heartbeats = heartbeatsDomain.create({
    ...platform,
    events: eventsOf(heartbeatsDomain),
    alerts: alerts.service,
    consoleUrl: config.console.url,
  })
  const tickets = ticketsDomain.create({
    ...platform,
    events: eventsOf(ticketsDomain),
    userExists: (queries, userId) => users.service.exists(queries, userId),
    userIdsByNames: (queries, names) => users.service.idsByNames(queries, names),
  })
  const signIn = signInDomain.create({
    ...platform,
    users: users.service,
    auth: users.auth,
    audit: audit.service,
    login: users.login,
    settings: signInSettings(config, clock),
    readOnly: config.readOnly,
    signingKeys,
  })
  const menus = menusDomain.create({ ...platform, events: eventsOf(menusDomain) })
  const certificates = certificatesDomain.create({
    ...platform,
    events: eventsOf(certificatesDomain),
    alerts: alerts.service,
    files: new CertificateDirectory(join(config.dataDir, 'certs')),
    scanEveryMs: config.worker.certificateScanMs,
  })
  const dataBackups = dataBackupsDomain.create({
    ...platform,
    events: eventsOf(dataBackupsDomain),
    alerts: alerts.service,
    snapshots: createSnapshots(store),
    directory: join(config.dataDir, 'backups'),
    everyMs: config.data.backupEveryMs,
    keep: config.data.backupKeep,
    findDamage: damageFinder(config.database),
  })
  const logs = { messages: messages.log, telemetry: telemetry.log }
  const events = eventsDomain.create({ ...platform, logs, subjects: eventSubjectsByLog() })
  const business = { messages, orders, payments, audit, users, 'sign-in': signIn, pool, sessions, events }
  const management = { alerts, heartbeats, tickets, menus, certificates, 'data-backups': dataBackups }
  const created = { ...business, ...management, telemetry }
  const commands = commandsDomain.create({
    ...platform,
    ...commandSettings(config),
    events: eventsOf(commandsDomain),
    alerts: alerts.service,
    notices: alerts.notices,
    consoleUrl: config.console.url,
    builtInCommands: Object.values<DomainParts>(created).flatMap(
      ({ builtInCommands = [] }) => builtInCommands,
    ),
    findAccount: (userId, queries) => users.service.find(userId, queries),
    signingKeys,
  })
  const webhooks = webhooksDomain.create({
    ...platform,
    alerts: alerts.service,
    log: messages.log,
    audit: created.audit.service,
    caller: new HttpWebhookCaller(new AddressRules(config.webhooks.allowPrivate)),
    keepMs: config.messages.keepMs,
  })
  const overview = createOverview({ ...created, commands }, { store, clock })
  return { ...created, commands, webhooks, overview } satisfies Record<DomainName, DomainParts>
}

/** PostgreSQL checks its own pages. */
function damageFinder(database: Config['database']) {
  return database.kind === 'sqlite' ? (signal: AbortSignal) => findDamage(database, signal) : undefined
}

const KEY_ID_LENGTH = 16
const NO_CHANNELS: ReadonlyMap<string, PaymentChannel> = new Map()

function commandSettings({ commands }: Config) {
  const { approvalReceivers = [], programs: programCommands, ...settings } = commands
  const programs = new HostPrograms({ path: commands.environment.PATH })
  return { ...settings, approvalReceivers, programCommands, programs, host: hostname() }
}

/** The keys and the newest seal of the audit trail, which lie in the data directory. */
export function auditFiles({ dataDir }: Pick<Config, 'dataDir'>): AuditFiles {
  const keysOf = ([newest, ...older]: readonly [Buffer, ...Buffer[]]) =>
    [auditKey(newest), ...older.map(auditKey)] as const
  return {
    readOrCreateKeys: () => keysOf(readOrCreateAuditKeys(dataDir)),
    readKeys() {
      const keys = readAuditKeys(dataDir)
      return keys && keysOf(keys)
    },
    readSeal: () => parseSeal(readAuditSeal(dataDir) ?? ''),
    keepSeal: (seal) => keepAuditSeal(dataDir, seal && formatSeal(seal)),
  }
}

/** The id says which key was used, and nothing of the key. */
function auditKey(bytes: Buffer) {
  return { bytes, id: hash('sha256', bytes, 'hex').slice(0, KEY_ID_LENGTH) }
}

/** What the configuration says about alerts. */
export function alertSettings(config: Config) {
  const { robot, routes, defaultReceivers: _defaults, ...times } = config.alerts
  const defaults = config.alerts.defaultReceivers ?? (robot.url === undefined ? [] : [ROBOT_RECEIVER])
  return {
    ...times,
    consoleUrl: config.console.url,
    receivers: openReceivers(config),
    routing: {
      routes,
      defaultReceivers: defaults,
      minSeverity: robot.minSeverity,
      isDamping: config.receivers.length > 0 || routes.length > 0,
    },
  }
}

/** The routes of all domains. */
export function routesOf(domains: Domains) {
  return Object.values(domains).flatMap(({ routes }) => routes)
}

/** The jobs of all domains that a module runs. */
export function jobsOf(domains: Domains, module: keyof DomainParts['jobs']) {
  return Object.values<DomainParts>(domains).flatMap(({ jobs }) => jobs[module] ?? [])
}

/** What a module runs for all domains from its start to its stop. */
export function runnersOf(domains: Domains, module: keyof NonNullable<DomainParts['runners']>) {
  return Object.values<DomainParts>(domains).flatMap(({ runners = {} }) => runners[module] ?? [])
}

/** The configured provider for sign-in and its rules; undefined if there is none. */
export function signInSettings({ auth: { oidc } }: Config, clock: Clock): SignInSettings | undefined {
  const { issuer, clientId, clientSecret, ...others } = oidc
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return { ...others, provider: new OidcProvider({ ...others, issuer, clientId, clientSecret, clock }) }
}

/** What a standby copies its users with; undefined for a process that copies none. */
function mirrorOptions(
  { gateway, modules, readOnly }: Config,
  clock: WaitingClock,
): MirrorOptions | undefined {
  const { mirrorFrom: from, mirrorTokenFile: tokenFile, mirrorMaxAgeMs: maxAgeMs } = gateway
  if (from === undefined || tokenFile === undefined || readOnly || !modules.includes('gateway'))
    return undefined
  const source = new PrimaryUsers({ url: from, readToken: () => readMirrorToken(tokenFile) })
  return { from, source, maxAgeMs, clock }
}

/** The subjects of a stream that covers all events: `order.created` → `order.>`. */
export function eventSubjects(): string[] {
  const subjects = DOMAINS.flatMap(({ events }) => Object.values<string>(events))
  return [...new Set(subjects.map((subject) => subject.replace(/[^.]+$/, '>')))]
}

/** A delivery whose `wake` also wakes the live streams, which read the same table. */
function wakingStreams(delivery: Delivery, wakeStreams: () => void): Delivery {
  return {
    waitForSettlement: (id, withinMs) => delivery.waitForSettlement(id, withinMs),
    wake() {
      delivery.wake()
      wakeStreams()
    },
  }
}

/** The subjects of the live stream by the log of their events. */
function eventSubjectsByLog(): SubjectsByLog {
  const others = DOMAINS.filter((domain) => domain !== telemetryDomain)
  return { messages: declaredSubjects(others), telemetry: declaredSubjects([telemetryDomain]) }
}

/** The subjects of the events of these domains, each with the roles that may read it. */
function declaredSubjects(domains: readonly Domain[]): DeclaredSubject[] {
  return domains.flatMap(({ events, eventReaders = [], eventReadersOf = {} }) =>
    Object.values(events).map((subject) => ({ subject, readers: eventReadersOf[subject] ?? eventReaders })),
  )
}

/** Created at the first use: a command that uses no tokens needs no signing key. */
function lazyTokens(create: () => Tokens): Tokens {
  let tokens: Tokens | undefined
  const get = () => (tokens ??= create())
  return {
    sign: (...args) => get().sign(...args),
    verify: (token) => get().verify(token),
  }
}
