import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { endOfTurn } from '../../kernel/waiting.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { receivedTrace, runInTrace } from '../../kernel/trace.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import type { DocumentFacts } from '../../wire/domain.ts'
import { COMMON_ERRORS } from '../../wire/error-codes.ts'
import type { Answer, Route } from '../../wire/route.ts'
import { ConnectionLimits } from '../connections/connection-limits.ts'
import { addRoute } from './add-route.ts'
import type { ApiConnection } from './api-client/api-connection.ts'
import {
  answerBrokenRequests,
  answerStrayRequests,
  webSocketTest,
  handOverUpgrades,
  type UpgradeOptions,
} from './raw-requests.ts'
import type { Changes } from './changes.ts'
import type { ClientAddress } from './client-address.ts'
import { JSON_TYPE, memoryOf, sendAnswer } from './response.ts'
import { endBehindLongBody, hasShortBody, isCutOff, waitUntilDiscarded } from './discard-body.ts'
import { docsRoutes, errorsPage } from './pages/pages.ts'
import { ServerDrain } from './drain.ts'
import { ClientLeft, errorAnswer, toAppError } from './errors.ts'
import { framingFault, pathOf, requestIdOf } from './request.ts'
import type { Identify } from './identity.ts'
import { acceptBytes, acceptJsonOnly } from './json-body.ts'
import { LongResponses } from './stream-response.ts'
import { limitRate } from './rate-limit.ts'
import { type CountClientFault, createFaultCounter, recordRequests } from './request-log.ts'
import type { TlsContext } from './tls-certificate.ts'
import { type MethodsAt, methodTable, refuseShadowed, refuseUnmatched } from './unmatched.ts'
import { compileValidator } from './validation.ts'

export interface HttpServerOptions {
  readonly routes: readonly Route[]
  /** Pages for the browser, which are no operations of the API. */
  readonly pages?: readonly Route[]
  readonly identify: Identify
  /** By default the TCP peer. */
  readonly clientAddress?: ClientAddress
  /** Runs the changes of routes; required if a route has a `change`. */
  readonly changes?: Changes
  /** Without it nothing is recorded in the audit trail. */
  readonly audit?: AuditTrail
  readonly logger: Logger
  readonly metrics: Metrics
  readonly version: string
  readonly readOnly: boolean
  /** For each caller; 0 for no limit. */
  readonly rateLimitPerMinute: number
  /** Answers requests that no route matches; without it they are answered with `route_not_found`. */
  readonly passOn?: ApiConnection
  readonly upgrades?: UpgradeOptions
  /** Verifies the tokens of responses that last again; without it no caller has one. */
  readonly authenticator?: Pick<Authenticator, 'authenticate'>
  readonly documentFacts?: DocumentFacts
  /** Origins whose pages may call the server; by default none. */
  readonly corsOrigins?: readonly string[]
  /** Without it the server speaks plain HTTP. */
  readonly tls?: TlsContext | undefined
  /** Limit of all headers together, in bytes; 16 KiB by default. */
  readonly headerLimit?: number
}

export interface HttpServer {
  /** Returns `host:port`, with the port that the system has chosen for 0. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Uses another certificate for new connections; for a server with `tls`. */
  useCertificate(tls: TlsContext): void
  /** Answers the requests that clients have sent, then stops; may be called twice. */
  close(): Promise<void>
}

// docs/specification.md, Limits: 413 above 1 MiB
const BODY_LIMIT = 1_048_576
const HANDSHAKE_TIMEOUT_MS = 5_000

/** Restrict what a browser does with a response; pages replace the policy by their own. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Replaces the framework's own compilers, which would take a tenth of the memory of the process. Routes have no schemas
 * for responses, so the serializer is never used.
 */
const SCHEMA_COMPILERS = {
  compilersFactory: { buildValidator: () => compileValidator, buildSerializer: () => () => JSON.stringify },
  // The types accept the framework's own compilers only.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>

/** An HTTP server with these routes; without `passOn` also with their OpenAPI document and its page. Not listening yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const nodeOptions = {
    headersTimeout: 5_000,
    maxHeaderSize: options.headerLimit ?? 16_384,
    connectionsCheckingInterval: 1_000,
    // Node.js would answer without a body; the framing check requires the header instead.
    requireHostHeader: false,
    shouldUpgradeCallback: webSocketTest(options.upgrades),
  }
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 15_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    rewriteUrl: pageOfBadPath(options.pages),
    ...listenerOptions(nodeOptions, options.tls),
    // The schema of a parameter says how long it may be; this is longer than any request target.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: ({ headers }) => requestIdOf(headers),
    requestIdHeader: false,
    frameworkErrors: (error, request, reply) => {
      void answerError(request, withCommonHeaders(reply, request), toAppError(error))
    },
    logger: false,
    schemaController: SCHEMA_COMPILERS,
  })
  const countFault = createFaultCounter(options.metrics)
  const limits = new ConnectionLimits(app.server)
  const drain = new ServerDrain(app.server)
  answerBrokenRequests(limits, countFault)
  answerStrayRequests(app.server, limits)
  continueUnlessTooLarge(app.server)
  if (options.tls) endFailedHandshakes(app.server, countFault)
  if (options.upgrades) handOverUpgrades(app.server, limits, options.upgrades)
  app.decorateRequest('identity', null)
  app.decorateRequest('trace', undefined)
  acceptJsonOnly(app)
  app.addHook('onRequest', (request, reply, done) => {
    withCommonHeaders(reply, request)
    const fault = framingFault(request.raw)
    if (fault) reply.header('connection', 'close')
    request.trace = receivedTrace(request.headers)
    runInTrace(request.trace, () => done(fault))
  })
  recordRequests(app, { ...options, limits, countFault })
  allowOrigins(app, options.corsOrigins ?? [])
  app.addHook('onSend', (request, { raw }, payload, done) => {
    limits.hold(raw, memoryOf(payload))
    endBehindLongBody(request.raw, raw)
    done(null, payload)
  })
  const longResponses = new LongResponses({ authenticator: options.authenticator })
  answerFailures(app, options.logger)
  const countRefusal = await limitRate(app, options.rateLimitPerMinute, options.clientAddress)
  const { pages = [], passOn: api, version } = options
  // A gateway passes requests for the document on to its api, and answers with errors of its own.
  const docs = api ? [] : [...docsRoutes(options.routes, version, options.documentFacts), ...pages]
  const routes = [...options.routes, ...docs, errorsPage(options.documentFacts?.errors ?? COMMON_ERRORS)]
  const methodsAt = methodTable(routes)
  refuseUnmatched(app, countRefusal, api ? passedOnOr(methodsAt, app.supportedMethods) : methodsAt)
  const routeOptions = { ...options, countRefusal, longResponses }
  await app.register(async (scope) => {
    acceptBytes(scope)
    for (const route of routes.filter(({ takesRawBody }) => takesRawBody))
      addRoute(scope, route, routeOptions)
  })
  await app.register(async (scope) => {
    for (const route of routes.filter(({ takesRawBody }) => !takesRawBody))
      addRoute(scope, route, routeOptions)
    refuseShadowed(scope, routes, countRefusal)
  })
  if (api) {
    // Only a gateway needs it, and it takes a while to load.
    const { passOn } = await import('./api-client/pass-on.ts')
    await app.register((scope) => passOn(scope, { ...options, api, longResponses, methodsAt, countRefusal }))
  }
  return {
    async listen(address) {
      await app.ready()
      // The framework listens on both addresses of `localhost`. For all others it also reads the interfaces of the host,
      // which a unit may forbid (AF_NETLINK).
      if (address.host === 'localhost') await app.listen({ ...address })
      else await once(app.server.listen({ ...address }), 'listening')
      const bound = app.server.address() as AddressInfo
      return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
    },
    useCertificate: (tls) =>
      (app.server as Server & Pick<TlsServer, 'setSecureContext'>).setSecureContext(tls),
    close: () => {
      // They would end by nothing else.
      longResponses.close()
      return drain.close(() => app.close())
    },
  }
}

/**
 * The page of a path below it that nothing can decode: the router would refuse it before any route, and its reader would get
 * JSON. The script of the page says that there is no such view.
 */
function pageOfBadPath(pages: readonly Route[] = []): (request: { url?: string | undefined }) => string {
  const prefixes = pages.flatMap(({ path }) => (path.endsWith('/*') ? [path.slice(0, -1)] : []))
  return ({ url = '/' }) => {
    const prefix = prefixes.find((start) => url.startsWith(start))
    return prefix === undefined || isDecodable(pathOf({ url })) ? url : prefix
  }
}

function isDecodable(path: string): boolean {
  try {
    return decodeURI(path) !== ''
  } catch {
    return false
  }
}

/** The framework takes the options of Node.js under another name for each protocol, and its types know one of them. */
function listenerOptions<T extends object>(options: T, tls: TlsContext | undefined): { readonly http: T } {
  if (!tls) return { http: options }
  const https = { ...options, ...tls, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }
  return { https } as unknown as { readonly http: T }
}

/** The client cannot read an answer. */
function endFailedHandshakes(server: Server, countFault: CountClientFault): void {
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error: Error, socket: Socket) => {
    countFault('not_http')
    socket.destroy()
  })
}

function withCommonHeaders(reply: FastifyReply, { id }: FastifyRequest): FastifyReply {
  return reply.header('x-request-id', id).headers(SECURITY_HEADERS)
}

function answerFailures(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const known = withLimit(toAppError(error), request)
    // Fastify closes the connection, also behind a short body.
    if (known.code === 'payload_too_large' && hasShortBody(request.raw)) reply.removeHeader('connection')
    if (known.kind === 'internal' && !isOfClient(error, request))
      logger.error(
        { request_id: request.id, trace_id: request.trace?.traceId, error: known.cause },
        'a request failed',
      )
    return answerError(request, reply, known)
  })
}

/** An error of the framework says nothing of the limit that was exceeded. */
function withLimit(error: AppError, { routeOptions: { bodyLimit } }: FastifyRequest): AppError {
  if (error.code !== 'payload_too_large' || error.cause === undefined || bodyLimit === undefined) return error
  const limit = bodyLimit % 1_048_576 === 0 ? `${bodyLimit / 1_048_576} MiB` : `${bodyLimit / 1_024} KiB`
  return new AppError(error.kind, error.code, `The body is larger than ${limit}.`, { cause: error.cause })
}

/** The client has left in the middle of its body, or before its answer. */
function isOfClient(error: unknown, { raw }: FastifyRequest): boolean {
  return error instanceof ClientLeft || (error !== null && error === raw.errored)
}

async function answerError(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  error: AppError,
): Promise<FastifyReply> {
  await endOfTurn()
  const answer = errorAnswer(error)
  endBehindLongBody(raw, reply.raw)
  return isCutOff(raw, reply.raw) ? sendBeforeEnd(raw, reply, answer) : sendAnswer(reply, answer)
}

function sendBeforeEnd(
  request: IncomingMessage,
  reply: FastifyReply,
  { body, ...answer }: Answer,
): FastifyReply {
  const text = JSON.stringify(body)
  reply.type(JSON_TYPE).header('content-length', Buffer.byteLength(text))
  return sendAnswer(reply, { ...answer, body: waitUntilDiscarded([text], request, reply.raw) })
}

/** A client that announces a body that is too large is answered before it sends the body. */
function continueUnlessTooLarge(server: Server): void {
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= BODY_LIMIT) response.writeContinue()
    // The client may leave the body out, so the next request may begin at once.
    else response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
}

/** A gateway passes all paths but its own on, with the methods that the framework knows. */
function passedOnOr(ownMethodsAt: MethodsAt, passedOn: readonly string[]): MethodsAt {
  return (path) => {
    const own = ownMethodsAt(path)
    return own.length > 0 ? own : passedOn
  }
}

/** The headers that a page of another origin may send. It has a token, so the headers of identities are not allowed. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'traceparent',
  'tracestate',
  'X-Request-Id',
]
/** The headers that such a page may read besides those that the standard allows (Fetch, section 3.3.3). */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotent-Replay',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Next-Cursor',
  'X-Request-Id',
]
const PREFLIGHT = {
  'access-control-allow-headers': ALLOWED_HEADERS.join(', '),
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-max-age': '600',
}
const EXPOSED = EXPOSED_HEADERS.join(', ')

/**
 * Lets pages of these origins, and no others, call the server with a token of their own, never with cookies.
 */
function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    // A cache must not give the answer to one origin to another one.
    reply.header('vary', 'Origin')
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED })
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (isPreflight) void reply.code(204).headers(PREFLIGHT).send()
    else done()
  })
}
