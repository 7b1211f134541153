import { createAuthenticator, requireTokenHolder } from '../../domains/users/index.ts'
import { createSessionRegistry, vpnPoolJob, type Vpn } from '../../domains/vpn/index.ts'
import { createGatewayServer } from '../../infra/ws/gateway-server.ts'
import { tunnelsPageRoutes } from '../../infra/ws/tunnels-page.ts'
import { systemClock } from '../../kernel/clock.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Job } from '../../kernel/job.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import { createDomains } from '../domains.ts'
import { createIdentities, jwtSecret } from '../identities.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

/** The VPN gateway: sessions over WebSocket, and the api behind it. */
export async function openGateway(context: ModuleContext): Promise<Job[]> {
  const { config, store, logger, metrics, operations, api } = context
  const clock = systemClock
  const { messages, alerts, vpn } = createDomains({ ...context, clock, module: 'gateway' })
  const { heartbeatMs, coolDownMs, ipPool, connectionsPerSecond, connectionBurst } = config.vpn
  const { name, listen: wanted } = config.gateway
  let address = `${wanted.host}:${wanted.port}`
  const registry = createSessionRegistry({
    store,
    clock,
    logger,
    gateway: { name, address: () => address, heartbeatMs },
    pool: ipPool.text,
    coolDownMs,
    requireTokenHolder,
    events: messages,
    alerts,
  })
  const server = await createGatewayServer({
    ...httpOptions(context),
    name,
    apiUrl: config.gateway.apiUrl ?? requiredApi(api).url,
    registry,
    authenticator: api?.authenticator ?? ownAuthenticator(context, vpn),
    clock,
    heartbeatMs,
    connectionsPerSecond,
    connectionBurst,
    routes: [...operations, ...tunnelsPageRoutes()],
    tunnels: () => tunnels(vpn),
  })
  // The system may have chosen the port.
  address = await listen(context, 'gateway', server, wanted)
  // The api of the same process counts the same addresses for the same metrics.
  return api ? [] : [vpnPoolJob(vpn, metrics)]
}

function requiredApi(api: ModuleContext['api']): NonNullable<ModuleContext['api']> {
  if (api) return api
  throw invalidField('gateway.api_url', 'must be set when the gateway runs without the api')
}

/** Without an api in the process, changes of users are seen when the users are read again. */
function ownAuthenticator({ config, store, logger, metrics }: ModuleContext, vpn: Vpn): Authenticator {
  const { users, tokens } = createIdentities({
    secret: jwtSecret(config),
    tokenTtlMs: config.auth.tokenTtlMs,
    store,
    clock: systemClock,
    logger,
    metrics,
    sessions: vpn,
  })
  return createAuthenticator({ store, clock: systemClock, users, tokens })
}

/** The picture as the page reads it. */
async function tunnels(vpn: Vpn) {
  const { session_count: total, ...picture } = await vpn.tunnels()
  return { at: toRfc3339(systemClock.now()), total, ...picture }
}
