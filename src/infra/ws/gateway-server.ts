import { createApiConnection } from '../http/api-connection.ts'
import { createIdentify } from '../http/identity.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { Route } from '../../wire/route.ts'
import { createGateway, type GatewayOptions } from './gateway.ts'
import { gatewayRoutes, type GatewayRouteOptions } from './gateway-routes.ts'

export interface GatewayServerOptions
  extends Omit<GatewayOptions, 'api' | 'authenticator'>, GatewayRouteOptions {
  readonly version: string
  /** Of the api that requests are passed to; without a slash at its end. */
  readonly apiUrl: string
  readonly authenticator: Authenticator
  /** Health, measurements and the page: what the gateway answers for itself. */
  readonly routes: readonly Route[]
}

// contract, section 5: a token over 8 KiB is answered with 401, so it has to come in first
const HEADER_LIMIT_BYTES = 32_768

/** The gateway as a server: sessions, its own pages, and the api behind it. Not yet listening. */
export async function createGatewayServer(options: GatewayServerOptions): Promise<HttpServer> {
  const { authenticator, logger, metrics, version, readOnly } = options
  const api = createApiConnection({ url: options.apiUrl, logger })
  const gateway = createGateway({ ...options, api })
  const server = await createHttpServer({
    routes: [...options.routes, ...gatewayRoutes(options)],
    // Only a token counts here: whoever may be believed without one calls the api.
    identify: createIdentify({ authenticator, trustedProxies: [] }),
    logger,
    metrics,
    version,
    readOnly,
    // The api counts the calls of each caller.
    rateLimitPerMinute: 0,
    passOn: api,
    upgrades: gateway.upgrades,
    headerLimit: HEADER_LIMIT_BYTES,
  })
  return {
    async listen(address) {
      await gateway.start()
      return server.listen(address)
    },
    async close() {
      // While the sessions are told goodbye, requests are still passed on.
      await gateway.close()
      await server.close()
      api.close()
    },
  }
}
