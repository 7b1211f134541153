import { WebSocketServer } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { END_REASONS, type SessionRegistry } from '../../ports/session-registry.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import type { Mirror } from '../../ports/user-source.ts'
import type { Route } from '../../wire/route.ts'
import { ApiConnection } from '../http/api-client/api-connection.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { createIdentify } from '../http/identity.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { TlsContext } from '../http/tls-certificate.ts'
import type { UpgradeOptions, UpgradeRequest } from '../http/raw-requests.ts'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { Admission, type Admitted, stopping } from './admission.ts'
import { CLOSE } from './frames.ts'
import { type GatewayRouteOptions, gatewayRoutes } from './gateway-routes.ts'
import { SESSION_PATH, SUBPROTOCOL } from './handshake.ts'
import { CLOSE_TIMEOUT_MS, SessionTable } from './session-table.ts'
import { SessionTelemetry } from './telemetry.ts'

/** What the gateway and its server need alike. */
export interface GatewayBaseOptions {
  /** As clients and the session registry know it. */
  readonly name: string
  readonly registry: SessionRegistry
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** By default the TCP peer. */
  readonly clientAddress?: ClientAddress
  readonly heartbeatMs: number
  /** For each address, or each /64 of IPv6. */
  readonly connectionsPerSecond: number
  readonly connectionBurst: number
  /** Sessions are refused, because they could not be registered. */
  readonly readOnly: boolean
  /** How many bytes may be held for clients that have not read them yet, over all sessions. */
  readonly maxOutgoingBytes?: number
}

export interface GatewayOptions extends GatewayBaseOptions {
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly api: Pick<ApiConnection, 'ask'>
}

// docs/specification.md, Gateway
const MAX_FRAME_BYTES = 64 * 1_024

const WEB_SOCKET = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  // Pongs are sent as all frames are, so that a client that does not read them is noticed.
  autoPong: false,
  maxPayload: MAX_FRAME_BYTES,
  closeTimeout: CLOSE_TIMEOUT_MS,
  // One frame of a client in each turn of the event loop: many clients that send many frames do not hold it up.
  allowSynchronousEvents: false,
  handleProtocols: (offered: ReadonlySet<string>) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
}

/** Holds sessions with clients over WebSocket (docs/specification.md, Gateway). */
class Gateway {
  /** For the HTTP server: which requests are to be handed over, and to whom. */
  readonly upgrades: UpgradeOptions
  readonly #options: GatewayOptions
  readonly #webSockets = new WebSocketServer(WEB_SOCKET)
  readonly #opening = new Set<Promise<void>>()
  readonly #sessions: SessionTable
  readonly #admission: Admission
  #stopped: Promise<void> | undefined

  constructor(options: GatewayOptions) {
    this.#options = options
    const telemetry = new SessionTelemetry({
      ...options,
      countSessions: () => this.#sessions.size,
      countOutgoingBytes: () => this.#sessions.outgoingBytes,
    })
    this.#sessions = new SessionTable({ ...options, telemetry })
    this.#admission = new Admission({
      ...options,
      telemetry,
      isStopping: () => this.#stopped !== undefined,
    })
    this.upgrades = { path: SESSION_PATH, take: (upgrade) => this.#take(upgrade) }
  }

  /** Announces this gateway to the others. Must come before the first connection. */
  async start(): Promise<void> {
    this.#webSockets.on('headers', (lines, { headers }) => {
      lines.push(`X-Request-Id: ${String(headers['x-request-id'])}`)
    })
    if (this.#options.readOnly) return
    await this.#options.registry.join()
    this.#sessions.start()
  }

  /** Refuses further sessions, ends the open ones with 1001, and leaves the registry. May be called twice. */
  close(): Promise<void> {
    this.#stopped ??= this.#options.readOnly ? Promise.resolve() : this.#stop()
    return this.#stopped
  }

  #take(upgrade: UpgradeRequest): void {
    const opened = this.#open(upgrade)
    this.#opening.add(opened)
    void opened.finally(() => this.#opening.delete(opened))
  }

  async #open(upgrade: UpgradeRequest): Promise<void> {
    const admitted = await this.#admission.admit(upgrade)
    if (!admitted) return
    if (!this.#stopped) return this.#connect(upgrade, admitted)
    this.#sessions.release({
      id: admitted.registered.id,
      code: CLOSE.goingAway,
      reason: END_REASONS.gateway_stopping,
    })
    this.#admission.refuse(upgrade, stopping())
  }

  #connect({ request, requestId, socket, head }: UpgradeRequest, admitted: Admitted): void {
    let isConnected = false
    request.headers['x-request-id'] = requestId
    // The response and the first frame leave together.
    socket.cork()
    this.#webSockets.handleUpgrade(request, socket, head, (connection) => {
      isConnected = true
      this.#sessions.add(connection, admitted)
    })
    socket.uncork()
    // The library calls nothing when the client has disconnected meanwhile.
    if (!isConnected) {
      this.#sessions.release({
        id: admitted.registered.id,
        code: CLOSE.lost,
        reason: END_REASONS.connection_lost,
      })
    }
  }

  async #stop(): Promise<void> {
    // A session that is being registered now is ended when the gateway leaves.
    await Promise.all([...this.#opening, this.#sessions.close()])
    await this.#options.registry.leave().catch((error: unknown) => {
      this.#options.logger.warn(
        { error },
        'the gateway could not leave the session registry; its addresses are released after three intervals',
      )
    })
  }
}

interface GatewayServerOptions extends GatewayBaseOptions {
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
