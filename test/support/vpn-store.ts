import { Alerts, alertsDomain } from '../../src/domains/alerts/index.ts'
import { Messages } from '../../src/domains/messages/index.ts'
import { requireTokenHolder, Users } from '../../src/domains/users/index.ts'
import { vpnDomain } from '../../src/domains/vpn/index.ts'
import { createPasswords } from '../../src/infra/passwords/pbkdf2.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type { SessionRegistry, SessionRequest } from '../../src/ports/session-registry.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { testStore } from './store.ts'
import { usersOf } from './users.ts'

export const PASSWORD = 'a heavy brass telescope'
export const FIRST_PAGE = { limit: 1_000, before: Number.MAX_SAFE_INTEGER }
export const HEARTBEAT_MS = 30 * SECOND

export interface VpnSettings {
  readonly pool?: string
  readonly coolDownMs?: number
  readonly heartbeatMs?: number
}

/** The domain wired as the program wires it, on a store that somebody else has opened. */
export function vpnOn(store: Store, clock: Clock, settings: VpnSettings = {}) {
  const { coolDownMs = 60 * SECOND, heartbeatMs = HEARTBEAT_MS } = settings
  const shared = { store, clock, logger: silentLogger, metrics: noMetrics }
  const messages: Messages = new Messages({
    ...shared,
    delivery: { wake: () => undefined, settled: async () => undefined },
    alerts: { raise: (tx, alert) => alerts.raise(tx, alert) },
  })
  const alerts = new Alerts({ ...shared, events: messages.eventsOf('alerts', alertsDomain.encodeEvent) })
  const parts = {
    ...shared,
    coolDownMs,
    events: messages.eventsOf('vpn', vpnDomain.encodeEvent),
    alerts,
    requireTokenHolder,
    pool: settings.pool ?? '100.64.0.0/24',
  }
  const { vpn } = vpnDomain.create(parts)
  const passwords = createPasswords({ iterations: 1, queueLimit: 1_000 })
  return {
    vpn,
    messages,
    alerts,
    users: usersOf(store, new Users({ ...shared, passwords, sessions: vpn })),
    /** The registry of a new run of that gateway, which has not joined yet. */
    registryOf: (name: string, changed: VpnSettings = {}) =>
      vpnDomain
        .create({ ...parts, pool: changed.pool ?? parts.pool })
        .registry({ name, address: () => `${name}:9994`, heartbeatMs }),
  }
}

export interface VpnStoreWorld extends AsyncDisposable {
  readonly clock: FakeClock
  readonly store: Store
  readonly vpn: ReturnType<typeof vpnOn>['vpn']
  readonly users: ReturnType<typeof vpnOn>['users']
  readonly messages: ReturnType<typeof vpnOn>['messages']
  readonly alerts: ReturnType<typeof vpnOn>['alerts']
  registryOf(name: string, settings?: VpnSettings): SessionRegistry
  /** The same, joined. */
  joined(name: string, settings?: VpnSettings): Promise<SessionRegistry>
  /** What a client of that user asks for. */
  request(user: string, device?: string): SessionRequest
  readonly ids: ReadonlyMap<string, string>
}

/** A database with the users ada and bob and an admin, in a time of its own. */
export async function vpnStoreWorld(dialect: DialectName, settings?: VpnSettings): Promise<VpnStoreWorld> {
  const clock = fakeClock()
  const { store, ...rest } = await testStore(dialect, clock)
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
    ids,
    async joined(name, changed) {
      const registry = domain.registryOf(name, changed)
      await registry.join()
      return registry
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
