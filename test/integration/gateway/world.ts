import type { TestContext } from 'node:test'
import { createMetrics } from '../../../src/infra/metrics/metrics.ts'
import { IdentitySignature } from '../../../src/infra/tokens/identity-signature.ts'
import { createTokens } from '../../../src/infra/tokens/jwt.ts'
import { createGatewayServer } from '../../../src/infra/ws/gateway.ts'
import type { Mirror } from '../../../src/ports/user-source.ts'
import type { SessionRegistry } from '../../../src/ports/session-registry.ts'
import { systemClock, type Clock } from '../../../src/kernel/clock.ts'
import { knownRoles } from '../../../src/kernel/identity.ts'
import type { LogFields, Logger } from '../../../src/kernel/logger.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { HOUR } from '../../../src/kernel/time.ts'
import { operationsRoutes } from '../../../src/infra/http/operations.ts'
import { createMemoryRegistry, type MemoryRegistry } from '../../support/memory-registry.ts'
import { scopeOf } from '../../support/scope.ts'
import { startApiDouble, type ApiDouble } from './api-double.ts'

export const SECRET = 'a secret of the gateway tests, 32 bytes and more'

export interface WorldOptions {
  readonly heartbeatMs?: number
  readonly connectionsPerSecond?: number
  readonly connectionBurst?: number
  readonly readOnly?: boolean
  readonly capacity?: number
  readonly sessionsPerUser?: number
  readonly afterRegister?: (id: string) => Promise<void>
  readonly beforeLeave?: () => Promise<void>
  readonly maxOutgoingBytes?: number
  readonly tunnels?: () => Promise<unknown>
  /** For a standby. */
  readonly mirror?: Mirror
  /** Address of the api; by default the double's. */
  readonly apiUrl?: (double: ApiDouble) => string
}

export interface LoggedLine extends LogFields {
  readonly level: string
  readonly message: string
}

export interface TokenWish {
  readonly user?: string
  readonly roles?: readonly string[]
  readonly ttlMs?: number
}

export interface GatewayWorld {
  /** `http://127.0.0.1:port` */
  readonly url: string
  readonly api: ApiDouble
  readonly registry: MemoryRegistry
  readonly logged: readonly LoggedLine[]
  token(wish?: TokenWish): Promise<string>
  /** The measurements as text. */
  metrics(): Promise<string>
  /** Lets time pass at the gateway. */
  advance(milliseconds: number): void
  close(): Promise<void>
}

/** A gateway with an api that is a double and a registry in memory; its clock goes on, and can be put forward. */
export async function openWorld(t: TestContext, options: WorldOptions = {}): Promise<GatewayWorld> {
  const scope = scopeOf(t)
  const api = scope.use(await startApiDouble())
  const registry = createMemoryRegistry(options)
  const clock = advancingClock()
  const { logger, logged } = createLog()
  const { metrics, expose, close } = createMetrics({ logger })
  scope.defer(close)
  const tokens = createTokens({ secrets: [new Secret(SECRET)], clock, ttlMs: HOUR })
  const server = await createGatewayServer({
    name: 'gate-1',
    version: '0.0.0',
    registry: registry satisfies SessionRegistry,
    authenticator: createHolders(tokens),
    signature: new IdentitySignature([new Secret(SECRET)], clock),
    apiUrl: (options.apiUrl ?? (({ url }) => url))(api),
    clock,
    logger,
    metrics,
    heartbeatMs: options.heartbeatMs ?? HOUR,
    connectionsPerSecond: options.connectionsPerSecond ?? 10_000,
    connectionBurst: options.connectionBurst ?? 10_000,
    readOnly: options.readOnly ?? false,
    ...(options.maxOutgoingBytes !== undefined && { maxOutgoingBytes: options.maxOutgoingBytes }),
    ...(options.mirror && {
      mirror: options.mirror,
      isApiAway: () => options.mirror?.isPrimaryAway() ?? false,
    }),
    tunnels: options.tunnels ?? (async () => ({ total: registry.live.size })),
    routes: operationsRoutes({
      version: '0.0.0',
      modules: ['gateway'],
      readOnly: false,
      clock,
      checkStore: async () => undefined,
      bus: { state: 'connected', problem: undefined },
      exposeMetrics: () => expose(),
    }),
  })
  scope.defer(() => server.close())
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    url: `http://${address}`,
    api,
    registry,
    logged,
    metrics: async () => (await expose()).body,
    advance: clock.advance,
    close: () => server.close(),
    async token({ user = 'ada', roles = ['devops'], ttlMs = HOUR } = {}) {
      const subject = { userId: `id-of-${user}`, name: user, roles, generation: 1 }
      return tokens.sign(subject, ttlMs).token
    },
  }
}

function advancingClock(): Clock & { advance(milliseconds: number): void } {
  let ahead = 0
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    advance: (milliseconds) => void (ahead += milliseconds),
  }
}

/** Every good token is believed: there are no users who could change. */
function createHolders(tokens: ReturnType<typeof createTokens>) {
  const holder = async (token: string) => {
    const { userId, roles, ...times } = tokens.verify(token)
    const name = userId.replace('id-of-', '')
    return { identity: { id: userId, name, roles: knownRoles(roles), via: 'token' as const }, ...times }
  }
  return { holder, authenticate: async (token: string) => (await holder(token)).identity }
}

function createLog(): { logger: Logger; logged: LoggedLine[] } {
  const logged: LoggedLine[] = []
  const write = (level: string) => (fields: LogFields, message: string) =>
    void logged.push({ ...fields, level, message })
  const logger: Logger = {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: () => logger,
  }
  return { logger, logged }
}
