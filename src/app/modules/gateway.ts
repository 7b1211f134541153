import { encodePool } from '../../domains/pool/index.ts'
import { encodeTunnels } from '../../domains/sessions/index.ts'
import { createGatewayServer } from '../../infra/ws/gateway-server.ts'
import { tunnelsPageRoutes } from '../../infra/ws/tunnels-page.ts'
import { systemClock } from '../../kernel/clock.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Job } from '../../kernel/job.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { jobsOf } from '../domains.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

/** The VPN gateway: sessions over WebSocket, which forward requests to the api. */
export async function openGateway(context: ModuleContext): Promise<Job[]> {
  const { config, operations, domains, addresses } = context
  const { heartbeatMs, connectionsPerSecond, connectionBurst } = config.vpn
  const { name, listen: wanted } = config.gateway
  const { sessions } = domains.sessions
  const { pool } = domains.pool
  let address = `${wanted.host}:${wanted.port}`
  const server = await createGatewayServer({
    ...httpOptions(context, 'gateway'),
    name,
    apiUrl: config.gateway.apiUrl ?? requireApiUrl(addresses.api),
    registry: sessions.registryOf({ name, address: () => address, heartbeatMs }),
    authenticator: domains.users.authenticator,
    clock: systemClock,
    heartbeatMs,
    connectionsPerSecond,
    connectionBurst,
    routes: [...operations, ...tunnelsPageRoutes()],
    tunnels: async () => {
      const usage = new JsonText(encodePool(await pool.usage()))
      return new JsonText(encodeTunnels({ ...(await sessions.tunnels()), pool: usage }))
    },
  })
  // With port 0 the system has chosen the port.
  address = await listen(context, 'gateway', server, wanted)
  return jobsOf(domains, 'gateway')
}

/** The URL of the api in the same process: the loopback address when the api listens on all addresses. */
function requireApiUrl(url: string | undefined): string {
  if (url) return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  throw invalidField('gateway.api_url', 'must be set when the gateway runs without the api')
}
