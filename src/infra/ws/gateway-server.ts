import type { Authenticator } from '../../ports/authenticator.ts'
import type { Mirror } from '../../ports/mirror.ts'
import type { Route } from '../../wire/route.ts'
import { ApiConnection } from '../http/api-connection.ts'
import { createIdentify } from '../http/identity.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { TlsContext } from '../http/tls-certificate.ts'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { Gateway, type GatewayBaseOptions } from './gateway.ts'
import { gatewayRoutes, type GatewayRouteOptions } from './gateway-routes.ts'

export interface GatewayServerOptions extends GatewayBaseOptions {
  readonly version: string
  /** Without it the gateway speaks plain HTTP. */
  readonly tls?: TlsContext | undefined
  /** Address of the api that requests are passed to; without a slash at its end. */
  readonly apiUrl: string
  readonly authenticator: Authenticator
  readonly signature: IdentitySignature
  /** Health, metrics and the page: what the gateway answers itself. */
  readonly routes: readonly Route[]
  readonly corsOrigins?: readonly string[]
  /** See {@link GatewayRouteOptions.tunnels}. */
  readonly tunnels: GatewayRouteOptions['tunnels']
  /** For a standby: the copy of the users that its sessions go by. */
  readonly mirror?: Mirror | undefined
  /** Whether the api is known to be away, so that requests are refused at once. */
  readonly isApiAway?: (() => boolean) | undefined
}

// docs/specification.md, Gateway: a token over 8 KiB is answered with 401, so it has to be read
const HEADER_LIMIT_BYTES = 32_768

/** The gateway as a server: sessions, its own pages, and the api behind it. Not listening yet. */
export async function createGatewayServer(options: GatewayServerOptions): Promise<HttpServer> {
  const { authenticator, signature, logger, metrics, version, readOnly, mirror, isApiAway, clientAddress } =
    options
  const api = new ApiConnection({
    url: options.apiUrl,
    logger,
    signature,
    ...(isApiAway && { isAway: isApiAway }),
  })
  const gateway = new Gateway({ ...options, api, authenticator: sessionAuthenticator(authenticator, mirror) })
  const server = await createHttpServer({
    routes: [...options.routes, ...gatewayRoutes(options)],
    // Only a token identifies a caller here; trusted peers call the api itself.
    identify: createIdentify({ authenticator, trustedProxies: [], ...(clientAddress && { clientAddress }) }),
    ...(clientAddress && { clientAddress }),
    authenticator,
    logger,
    metrics,
    version,
    readOnly,
    // The api limits the calls of each caller.
    rateLimitPerMinute: 0,
    passOn: api,
    tls: options.tls,
    ...(options.corsOrigins && { corsOrigins: options.corsOrigins }),
    upgrades: gateway.upgrades,
    headerLimit: HEADER_LIMIT_BYTES,
  })
  return {
    async listen(address) {
      await gateway.start()
      return server.listen(address)
    },
    useCertificate: (tls) => server.useCertificate(tls),
    async close() {
      // Clients that are refused a connection go to another gateway at once; what was accepted is finished meanwhile.
      await Promise.all([server.close(), gateway.close()])
      api.close()
    },
  }
}

/** Tokens of new and renewed sessions are good only while the users are known well enough. */
function sessionAuthenticator(
  authenticator: Authenticator,
  mirror: Mirror | undefined,
): Pick<Authenticator, 'holder'> {
  if (!mirror) return authenticator
  return {
    async holder(token) {
      mirror.requireCurrent()
      return authenticator.holder(token)
    },
  }
}
