import { readMirrorToken } from '../../config/secrets.ts'
import { encodePool } from '../../domains/pool/index.ts'
import { encodeTunnels } from '../../domains/sessions/index.ts'
import type { Sender } from '../../infra/http/api-client/headers-for-api.ts'
import { PrimaryTunnels, withPrimaryTunnels, type TunnelsBody } from '../../infra/mirror/primary.ts'
import { createClientAddress } from '../../infra/http/client-address.ts'
import { createGatewayServer } from '../../infra/ws/gateway.ts'
import { readTls, trustCertificates } from '../../infra/http/tls-certificate.ts'
import { tunnelsPageRoutes } from '../../infra/http/pages/pages.ts'
import { IdentitySignature } from '../../infra/tokens/identity-signature.ts'
import { systemClock } from '../../kernel/clock.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Job } from '../../kernel/job.ts'
import { JsonText } from '../../kernel/text.ts'
import type { Mirror } from '../../ports/user-source.ts'
import { jobsOf } from '../domains.ts'
import { jwtSecrets } from '../signing-keys.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

/** The VPN gateway: sessions over WebSocket, which forward requests to the api. */
export async function openGateway(context: ModuleContext): Promise<Job[]> {
  const { config, operations, domains, addresses, localApi } = context
  const { heartbeatMs, connectionsPerSecond, connectionBurst } = config.vpn
  const { name, listen: wanted, mirrorFrom } = config.gateway
  const { service: sessions } = domains.sessions
  const apiUrl = config.gateway.apiUrl ?? requireApiUrl(localApi.url ?? addresses.api)
  trustCertificates(config.gateway)
  const tls = readTls('gateway.tls', config.gateway.tls)
  const mirror = await startMirror(context)
  const signature = new IdentitySignature(jwtSecrets(config), systemClock)
  let address = `${wanted.host}:${wanted.port}`
  const server = await createGatewayServer({
    ...httpOptions(context, 'gateway'),
    tls,
    name,
    apiUrl,
    registry: sessions.registryOf({ name, address: () => address, heartbeatMs }),
    authenticator: domains.users.authenticator,
    signature,
    clientAddress: createClientAddress({ proxies: config.proxy.clientAddressFrom }),
    clock: systemClock,
    heartbeatMs,
    connectionsPerSecond,
    connectionBurst,
    routes: [...operations, ...tunnelsPageRoutes()],
    tunnels: tunnelsOf(context, mirror, signature),
    mirror,
    // The mirror knows only whether the primary is away.
    isApiAway: mirror && apiUrl === mirrorFrom ? () => mirror.isPrimaryAway() : undefined,
  })
  // With port 0 the system has chosen the port.
  address = await listen(context, 'gateway', server, wanted, tls)
  return jobsOf(domains, 'gateway')
}

/** Copies the users of the primary, on a standby; they are there before the first client. */
async function startMirror({ config, domains, resources }: ModuleContext): Promise<Mirror | undefined> {
  const { follower } = domains.users
  const { mirrorTokenFile } = config.gateway
  if (!follower || mirrorTokenFile === undefined) return undefined
  // Read now, so that an unusable file makes the start fail.
  readMirrorToken(mirrorTokenFile)
  resources.defer(() => follower.stop())
  await follower.start()
  return follower
}

/** The state of the tunnels: on a standby with those of the primary, while it answers. */
function tunnelsOf(
  { config, domains, resources }: ModuleContext,
  mirror: Mirror | undefined,
  signature: IdentitySignature,
) {
  const ownJson = async () => {
    const pool = new JsonText(encodePool(await domains.pool.service.usage()))
    return encodeTunnels({ ...(await domains.sessions.service.tunnels()), pool })
  }
  const { mirrorFrom: url } = config.gateway
  if (!mirror || url === undefined) return async () => new JsonText(await ownJson())
  const primary = new PrimaryTunnels({ url, isAway: () => mirror.isPrimaryAway(), signature })
  resources.defer(() => primary.close())
  return async (caller: Sender) => {
    const [ofPrimary, ofStandby] = await Promise.all([primary.read(caller), ownJson()])
    return withPrimaryTunnels(JSON.parse(ofStandby) as TunnelsBody, ofPrimary)
  }
}

/** The URL of the api in the same process: the loopback address when the api listens on all addresses. */
function requireApiUrl(url: string | undefined): string {
  if (url) return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  throw invalidField('gateway.api_url', 'invalid', {
    reason: 'must be set when the gateway runs without the api',
  })
}
