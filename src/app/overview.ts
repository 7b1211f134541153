import type { alertsDomain } from '../domains/alerts/index.ts'
import type { certificatesDomain } from '../domains/certificates/index.ts'
import type { commandsDomain } from '../domains/commands/index.ts'
import type { dataBackupsDomain } from '../domains/data-backups/index.ts'
import type { heartbeatsDomain } from '../domains/heartbeats/index.ts'
import type { messagesDomain } from '../domains/messages/index.ts'
import { ordersDomain, type OrderStatus } from '../domains/orders/index.ts'
import {
  nightOf,
  overviewDomain,
  type Drill,
  type OverviewDeps,
  type PartSources,
} from '../domains/overview/index.ts'
import type { paymentsDomain } from '../domains/payments/index.ts'
import type { poolDomain } from '../domains/pool/index.ts'
import type { sessionsDomain } from '../domains/sessions/index.ts'
import type { ticketsDomain } from '../domains/tickets/index.ts'
import type { Role } from '../kernel/identity.ts'
import { SECOND } from '../kernel/time.ts'
import type { DomainParts } from '../wire/domain.ts'

type Read<Name extends keyof PartSources> = PartSources[Name]['read']

type Created<D extends { readonly create: (deps: never) => DomainParts }> = ReturnType<D['create']>

/** The domains that the overview reads. */
type OverviewedDomains = {
  readonly orders: Created<typeof ordersDomain>
  readonly payments: Created<typeof paymentsDomain>
  readonly messages: Created<typeof messagesDomain>
  readonly alerts: Created<typeof alertsDomain>
  readonly heartbeats: Created<typeof heartbeatsDomain>
  readonly tickets: Created<typeof ticketsDomain>
  readonly sessions: Created<typeof sessionsDomain>
  readonly pool: Created<typeof poolDomain>
  readonly certificates: Created<typeof certificatesDomain>
  readonly 'data-backups': Created<typeof dataBackupsDomain>
  readonly commands: Created<typeof commandsDomain>
}

// docs/specification.md, Overview
const LISTED = 10

const STATUS_OF_SUBJECT = Object.fromEntries(
  Object.entries(ordersDomain.events).map(([status, subject]) => [subject, status as OrderStatus]),
)

/** Creates the overview, which reads other domains and is read by none. */
export function createOverview(domains: OverviewedDomains, platform: Pick<OverviewDeps, 'store' | 'clock'>) {
  const { orders, messages, alerts, sessions } = domains
  return overviewDomain.create({
    ...platform,
    log: messages.log,
    subjects: STATUS_OF_SUBJECT,
    countAllOrders: () => orders.service.countAll(),
    countAllOrdersWith: (after) => orders.service.countAllWith(messages.log.placesAfter(after)),
    sample: async () => {
      const firing = Object.values(await alerts.service.countFiring())
      return {
        firingAlerts: firing.reduce((sum, count) => sum + count, 0),
        openSessions: await sessions.service.countLive(),
      }
    },
    sources: partSources(domains),
  })
}

/** The source of each part of the overview. The readers of a part are the roles of the list that it summarizes. */
function partSources(domains: OverviewedDomains): OverviewDeps['sources'] {
  const readersOf = (path: string) => rolesOf(domains, path)
  return {
    orders: { readers: readersOf('/orders') },
    payments: { readers: readersOf('/payments'), read: () => domains.payments.service.summary() },
    messages: { readers: readersOf('/messages'), read: readMessages(domains) },
    alerts: { readers: readersOf('/alerts'), read: () => domains.alerts.service.countFiring() },
    heartbeats: { readers: readersOf('/alerts/heartbeats'), read: readHeartbeats(domains) },
    tickets: { readers: readersOf('/tickets'), read: readTickets(domains) },
    sessions: { readers: readersOf('/vpn/sessions'), read: readSessions(domains) },
    pool: { readers: readersOf('/vpn/pool'), read: () => domains.pool.service.usage() },
    certificates: { readers: readersOf('/certificates'), read: readCertificates(domains) },
    dataBackups: { readers: readersOf('/data/backups'), read: readDataBackups(domains) },
    night: { readers: readersOf('/alerts'), read: readNight(domains) },
    drill: { readers: readersOf('/alerts/heartbeats'), read: readDrill(domains) },
    executions: { readers: readersOf('/commands/executions'), read: readExecutions(domains) },
  }
}

function rolesOf(domains: OverviewedDomains, path: string): readonly Role[] {
  const routes = Object.values<DomainParts>(domains).flatMap((domain) => domain.routes)
  const access = routes.find((route) => route.method === 'GET' && route.path === path)?.access
  if (Array.isArray(access)) return access as readonly Role[]
  throw new Error(`GET ${path} is no list with roles.`)
}

function readMessages({ messages: { service: messages } }: OverviewedDomains): Read<'messages'> {
  return async () => {
    const { pending, oldest: oldestPendingAt } = await messages.backlog()
    const { messages: dead, oldest: oldestDeadAt } = await messages.deadLetters()
    return { pending, oldestPendingAt, dead, oldestDeadAt }
  }
}

function readHeartbeats({ heartbeats: { service: heartbeats } }: OverviewedDomains): Read<'heartbeats'> {
  return async () => {
    const missed = await heartbeats.missed()
    return { late: missed.length, items: missed.slice(0, LISTED) }
  }
}

function readTickets({ tickets: { service: tickets } }: OverviewedDomains): Read<'tickets'> {
  return async () => {
    const counts = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
    for (const { level, tickets: count } of await tickets.countUnclosed()) counts[level] = count
    return counts
  }
}

function readSessions({ sessions: { service: sessions } }: OverviewedDomains): Read<'sessions'> {
  return async () => ({ open: await sessions.countLive() })
}

function readCertificates({
  certificates: { service: certificates },
}: OverviewedDomains): Read<'certificates'> {
  return async () => {
    const rows = await certificates.countByStatus()
    const countOf = (status: string) => rows.find((row) => row.status === status)?.certificates ?? 0
    const items = await certificates.listExpiring(LISTED)
    return { expiring: countOf('expiring'), expired: countOf('expired'), items }
  }
}

function readDataBackups({
  'data-backups': { service: backups, everyMs },
}: OverviewedDomains): Read<'dataBackups'> {
  const backupEverySeconds = everyMs === undefined ? null : Math.ceil(everyMs / SECOND)
  return async () => ({ last: (await backups.list({ limit: 1 })).items[0] ?? null, backupEverySeconds })
}

/** The alerts of a night have fixed ids (docs/specification.md, Alerts of a night). */
function readNight({ alerts: { service: alerts } }: OverviewedDomains): Read<'night'> {
  const stateOf = async (alarmId: string) => {
    const alert = await alerts.findByAlarmId(alarmId)
    return alert && { id: alert.id, isFiring: alert.weight > 0, lastAt: alert.lastAt }
  }
  return async () => ({
    last: nightOf({
      started: await stateOf('backup.start'),
      succeeded: await stateOf('backup.done'),
      failed: await stateOf('backup.failed'),
      lost: await stateOf('backup.failed.critical'),
    }),
  })
}

function readDrill({ heartbeats: { service: heartbeats } }: OverviewedDomains): Read<'drill'> {
  return async (): Promise<Drill> => {
    const drill = await heartbeats.find('backup-restore-drill')
    if (!drill) return { status: null, lastPassedAt: null, dueAt: null }
    const { lastBeatAt, missedAt, dueAt } = drill
    const status = missedAt !== null ? 'missed' : lastBeatAt === null ? 'waiting' : 'ok'
    return { status, lastPassedAt: lastBeatAt, dueAt }
  }
}

function readExecutions({ commands: { service: commands } }: OverviewedDomains): Read<'executions'> {
  return async (identity) => {
    const waiting = await commands.awaitingApproval(identity)
    return { awaitingApproval: waiting.length, oldestAt: waiting.at(-1)?.createdAt ?? null }
  }
}
