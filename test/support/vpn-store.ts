import { spawnSync } from 'node:child_process'
import { Alerts, alertsDomain } from '../../src/domains/alerts/index.ts'
import { Messages } from '../../src/domains/messages/index.ts'
import { AddressPool } from '../../src/domains/pool/index.ts'
import { Sessions, sessionsDomain } from '../../src/domains/sessions/index.ts'
import { requireTokenHolder, tokenHolderRows, Users } from '../../src/domains/users/index.ts'
import { createPasswords } from '../../src/infra/passwords/pbkdf2.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import type { RegisteredSession, SessionRegistry, SessionRequest } from '../../src/ports/session-registry.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { noNotifications } from './alerts.ts'
import { anyAlerts } from './declared-alerts.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { testStores } from './store.ts'
import { usersOf } from './users.ts'

export const PASSWORD = 'a heavy brass telescope'
export const FIRST_PAGE = { limit: 1_000 }
export const HEARTBEAT_MS = 30 * SECOND

export interface VpnSettings {
  readonly pool?: string
  readonly coolDownMs?: number
  readonly heartbeatMs?: number
  readonly sessionsPerUser?: number
}

/** Pool and sessions wired as the program wires them, on an open store. */
export function vpnOn(store: Store, clock: Clock, settings: VpnSettings = {}) {
  const { coolDownMs = 60 * SECOND, heartbeatMs = HEARTBEAT_MS, sessionsPerUser = 250 } = settings
  const shared = { store, clock, logger: silentLogger, metrics: noMetrics }
  const messages: Messages = new Messages({
    ...shared,
    delivery: { wake: () => undefined, waitForSettlement: async () => undefined },
    alerts: {
      raise: (tx, alert) => alerts.raise(tx, alert),
      recoverIfRaised: (tx, alert) => alerts.recoverIfRaised(tx, alert),
    },
  })
  const alerts = new Alerts({
    ...shared,
    events: messages.eventsOf('alerts', alertsDomain.encodeEvent),
    notifications: noNotifications,
    acknowledgeForMs: 4 * HOUR,
    declared: anyAlerts,
  })
  const events = messages.eventsOf(sessionsDomain.name, sessionsDomain.encodeEvent)
  const poolOf = (cidr: string) => new AddressPool({ ...shared, alerts, cidr, coolDownMs })
  const sessionsOf = (leases: AddressPool) =>
    new Sessions({ ...shared, events, pool: leases, sessionsPerUser, requireTokenHolder, tokenHolderRows })
  const pool = poolOf(settings.pool ?? '100.64.0.0/24')
  const sessions = sessionsOf(pool)
  const passwords = createPasswords({ iterations: 1, queueLimit: 1_000 })
  return {
    pool,
    sessions,
    messages,
    alerts,
    users: usersOf(store, new Users({ ...shared, passwords, sessions })),
    /** The registry of a new run of that gateway, which has not joined yet. */
    registryOf: (name: string, changed: VpnSettings = {}): SessionRegistry =>
      (changed.pool === undefined ? sessions : sessionsOf(poolOf(changed.pool))).registryOf({
        name,
        address: () => `${name}:9994`,
        heartbeatMs,
      }),
  }
}

export interface VpnStoreWorld extends AsyncDisposable {
  readonly clock: FakeClock
  readonly store: Store
  /** Store of another process on the same database. */
  readonly otherStore: Store
  readonly pool: AddressPool
  readonly sessions: Sessions
  readonly users: ReturnType<typeof vpnOn>['users']
  readonly messages: ReturnType<typeof vpnOn>['messages']
  readonly alerts: ReturnType<typeof vpnOn>['alerts']
  registryOf(name: string, settings?: VpnSettings): SessionRegistry
  /** The same, joined. */
  joined(name: string, settings?: VpnSettings): Promise<SessionRegistry>
  /** As if the process of that gateway had ended without leaving. */
  crash(name: string): Promise<void>
  /** A beat of that gateway, and a look of another process for dead gateways. */
  beat(registry: SessionRegistry): Promise<void>
  /** What a client of that user asks for. */
  request(user: string, device?: string): SessionRequest
  readonly ids: ReadonlyMap<string, string>
}

/** A database with the users ada and bob and an admin, in a time of its own. */
export async function vpnStoreWorld(dialect: DialectName, settings?: VpnSettings): Promise<VpnStoreWorld> {
  const clock = fakeClock()
  const { store, otherStore, ...rest } = await testStores(dialect, clock)
  const domain = vpnOn(store, clock, settings)
  const ids = new Map<string, string>()
  for (const name of ['root', 'ada', 'bob']) {
    const roles = name === 'root' ? ['admin'] : ['devops']
    ids.set(name, (await domain.users.create({ name, password: PASSWORD, roles })).id)
  }
  return {
    ...domain,
    clock,
    store,
    otherStore,
    ids,
    async joined(name, changed) {
      const registry = domain.registryOf(name, changed)
      await registry.join()
      return registry
    },
    crash: (name) => endProcessOf(store, `gateway:${name}`),
    async beat(registry) {
      await registry.beat([])
      await domain.sessions.reclaim()
    },
    request: (user, device) => ({
      user: { id: ids.get(user) ?? user, name: user },
      token: { generation: 1, issuedAt: clock.now() },
      device,
      remoteAddress: '192.0.2.10',
    }),
    [Symbol.asyncDispose]: rest[Symbol.asyncDispose],
  }
}

/** Writes an ended process into a lease of this process. */
async function endProcessOf(store: Store, lease: string): Promise<void> {
  const { pid } = spawnSync(process.execPath, ['--version'])
  await store.write(async ({ db }) => {
    const { holder } = await db
      .selectFrom('leases')
      .select('holder')
      .where('name', '=', lease)
      .executeTakeFirstOrThrow()
    const ended = String(holder).replace(`/${process.pid}/`, `/${pid}/`)
    await db.updateTable('leases').set({ holder: ended }).where('name', '=', lease).execute()
  })
}

/** How long a gateway may be silent before other processes end its sessions. */
export const DEAD_MS = 3 * HEARTBEAT_MS

export const LOST_CONNECTION = { code: 1006, reason: 'the connection was lost' }

export async function closeLost(registry: SessionRegistry, { id }: RegisteredSession): Promise<void> {
  await registry.close([{ id, ...LOST_CONNECTION }])
}

/** Whether each gateway is alive, by its name. */
export async function aliveGateways({ sessions }: VpnStoreWorld): Promise<Record<string, boolean>> {
  const { gateways } = await sessions.tunnels()
  return Object.fromEntries(gateways.map((gateway) => [gateway.name, gateway.alive]))
}

/** The audit entries, oldest first. */
export async function auditTrailOf({ sessions }: VpnStoreWorld) {
  const { items } = await sessions.audit({}, FIRST_PAGE)
  return items.toReversed()
}
