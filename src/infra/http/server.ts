import type { AddressInfo } from 'node:net'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { ANONYMOUS, isChange, type Answer, type Route, type RouteRequest } from '../../wire/route.ts'
import type { ApiConnection } from './api-connection.ts'
import { answerBrokenRequest, answerStrayRequests } from './broken-requests.ts'
import { keyedRequest, type Changes } from './changes.ts'
import { peerAddress, type ClientAddress } from './client-address.ts'
import { describeRoutes, OPENAPI_DOCUMENT } from './docs-page.ts'
import { ServerDrain } from './drain.ts'
import { errorAnswer, toAppError } from './errors.ts'
import { framingFault } from './framing.ts'
import { unauthenticated, type Identify } from './identity.ts'
import { acceptJsonOnly } from './json-body.ts'
import { namedSchemas, routeSchema } from './openapi.ts'
import { limitRate, type CountRefusal } from './rate-limit.ts'
import { requestIdOf } from './request-id.ts'
import { recordRequests } from './request-log.ts'
import { asksForWebSocket, handOverUpgrades, type UpgradeOptions } from './upgrades.ts'
import { compileValidator, refuseFields } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; null until the route's own hook has asked. */
    identity: Identity | null
  }
}

export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly identify: Identify
  /** Where a request comes from; by default the TCP peer. */
  readonly clientAddress?: ClientAddress
  /** Runs what the routes change; needed where a route has a `change`. */
  readonly changes?: Changes
  readonly logger: Logger
  readonly metrics: Metrics
  readonly version: string
  readonly readOnly: boolean
  /** Calls a minute that one caller may make; 0 for any number. */
  readonly rateLimitPerMinute: number
  /** The api that answers everything that no route is for; without it that is `route_not_found`. */
  readonly passOn?: ApiConnection
  readonly upgrades?: UpgradeOptions
  /** In bytes, of all headers together; 16 KiB when left out. */
  readonly headerLimit?: number
}

export interface HttpServer {
  /** Starts to accept; answers `host:port` with the port that the system chose for 0. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Stops accepting, lets the requests under way finish; may be called twice. */
  close(): Promise<void>
}

// docs/specification.md, Limits: 413 above 1 MiB
const BODY_LIMIT = 1_048_576
const JSON_TYPE = 'application/json; charset=utf-8'

/** What a browser that was led here must not do with an answer; the documentation page sets its own policy. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * How the framework checks requests and writes answers; its own compilers, which would be loaded otherwise, take a tenth
 * of the memory of the process.
 *
 * The schemas of answers describe them, and the tests hold every answer against them. What they would add here is a
 * serializer in JavaScript, which takes three times as long as the engine's own and must be compiled at each start.
 */
const SCHEMA_COMPILERS = {
  compilersFactory: { buildValidator: () => compileValidator, buildSerializer: () => () => JSON.stringify },
  // The types know of no compilers but the framework's own.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>

/** The API's HTTP server with these routes, their OpenAPI document and its page; not yet listening. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 15_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      headersTimeout: 5_000,
      maxHeaderSize: options.headerLimit ?? 16_384,
      connectionsCheckingInterval: 1_000,
      // Node.js would answer without a body; the framing check asks for the header itself.
      requireHostHeader: false,
      ...(options.upgrades && { shouldUpgradeCallback: asksForWebSocket(options.upgrades) }),
    },
    // The schema of a parameter says how long it may be; this is longer than any request target.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: ({ headers }) => requestIdOf(headers),
    requestIdHeader: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      void send(withCommonHeaders(reply, request), errorAnswer(toAppError(error)))
    },
    logger: false,
    schemaController: SCHEMA_COMPILERS,
  })
  const drain = new ServerDrain(app.server)
  answerStrayRequests(app.server)
  if (options.upgrades) handOverUpgrades(app.server, options.upgrades)
  app.decorateRequest('identity', null)
  for (const schema of namedSchemas(options.routes)) app.addSchema(schema)
  acceptJsonOnly(app)
  app.addHook('onRequest', (request, reply, done) => {
    withCommonHeaders(reply, request)
    const fault = framingFault(request.raw)
    if (fault) reply.header('connection', 'close')
    done(fault)
  })
  recordRequests(app, options)
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error)
    if (known.kind === 'internal')
      options.logger.error({ request_id: request.id, error: known.cause }, 'a request failed')
    return send(reply, errorAnswer(known))
  })
  const countRefusal = await limitRate(app, options.rateLimitPerMinute, options.clientAddress)
  app.setNotFoundHandler(async (request) => {
    const path = request.url.split('?', 1)[0] as string
    const fault = new AppError('not_found', 'route_not_found', `There is no path ${JSON.stringify(path)}.`)
    throw await countRefusal(request, fault)
  })
  const { identify, passOn: api } = options
  // The document at a gateway is the one of its api.
  if (!api) await describeRoutes(app, options.version)
  await app.register(async (scope) => {
    for (const route of options.routes) addRoute(scope, route, { ...options, countRefusal })
    refuseOtherMethods(scope, [...options.routes, ...(api ? [] : [OPENAPI_DOCUMENT])], countRefusal)
  })
  if (api) {
    // What speaks to another server takes a while to load; only a gateway needs it.
    const { passOn } = await import('./pass-on.ts')
    await app.register((scope) => passOn(scope, { api, identify }))
  }
  return {
    async listen(address) {
      // A copy: the framework writes into it.
      await app.listen({ ...address })
      const bound = app.server.address() as AddressInfo
      return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
    },
    close: () => drain.close(() => app.close()),
  }
}

function withCommonHeaders(reply: FastifyReply, { id }: FastifyRequest): FastifyReply {
  return reply.header('x-request-id', id).headers(SECURITY_HEADERS)
}

interface RouteOptions extends Pick<
  HttpServerOptions,
  'identify' | 'readOnly' | 'clientAddress' | 'changes' | 'logger'
> {
  readonly countRefusal: CountRefusal
}

function addRoute(app: FastifyInstance, route: Route, options: RouteOptions): void {
  const answer = answerer(route, options)
  app.route({
    method: route.method,
    url: route.path,
    schema: routeSchema(route),
    onRequest: admission(route, options),
    handler: async (request, reply) => {
      if (!route.body) refuseFields(request.body)
      return send(reply, await answer(request))
    },
  })
}

/** Finds out who is calling and whether they may, before the body is read. */
function admission(route: Route, { identify, readOnly, countRefusal }: RouteOptions) {
  const refusesChange = readOnly && isChange(route)
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const refuse = async (fault: Error) => done(await countRefusal(request, fault))
    const admit = (identity: Identity | undefined) => {
      request.identity = identity ?? null
      const fault = refusal(route, identity) ?? (refusesChange ? readOnlyError() : undefined)
      if (fault) void refuse(fault)
      else done()
    }
    try {
      // A public route has no use for an identity, so a bad one does not stop it.
      const identity = route.access === 'public' ? undefined : identify(request.raw)
      if (identity instanceof Promise) identity.then(admit, refuse)
      else admit(identity)
    } catch (error) {
      void refuse(error as Error)
    }
  }
}

function answerer(route: Route, options: RouteOptions): (request: FastifyRequest) => Promise<Answer> {
  const { clientAddress = peerAddress, changes, logger } = options
  if (!isChange(route)) return async (request) => route.read(routeRequest(request, clientAddress))
  if (!changes) throw new Error(`${route.operation} changes something, and the server has no database.`)
  return async (request) => {
    const given = routeRequest(request, clientAddress)
    const answer = await changes.run(
      {
        prepare: () => route.prepare?.(given),
        change: (tx, prepared) => route.change(tx, given, prepared),
      },
      route.method === 'POST' ? keyOf(request) : undefined,
    )
    if (!route.afterCommit || answer.status >= 400) return answer
    // The change is committed: the client must hear that, also when its outcome cannot be read again.
    return route.afterCommit(answer).catch((error: unknown) => {
      logger.warn({ request_id: request.id, error }, 'a committed change could not be read again')
      return answer
    })
  }
}

function keyOf(request: FastifyRequest) {
  return request.identity
    ? keyedRequest(request.headers['idempotency-key'], request.identity, request)
    : undefined
}

function routeRequest(
  request: FastifyRequest,
  clientAddress: ClientAddress,
): RouteRequest<unknown, unknown, unknown> {
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    identity: request.identity ?? ANONYMOUS,
    headers: request.headers,
    remoteAddress: clientAddress(request.raw),
  }
}

function refusal({ access }: Route, identity: Identity | undefined): AppError | undefined {
  if (access === 'public') return undefined
  if (!identity) return unauthenticated('The call needs a Bearer token in its Authorization header.')
  if (access === 'authenticated' || hasRole(identity, access)) return undefined
  return new AppError('forbidden', 'forbidden', `The call needs one of the roles ${access.join(', ')}.`)
}

function readOnlyError(): AppError {
  return new AppError(
    'unavailable',
    'read_only',
    'The platform is read-only at the moment; nothing was changed.',
  )
}

/** A path that exists answers 405 to the methods that it does not have. */
function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly Pick<Route, 'method' | 'path'>[],
  countRefusal: CountRefusal,
): void {
  for (const [path, known] of Map.groupBy(routes, (route) => route.path)) {
    const methods = known.map(({ method }) => method)
    // The framework answers HEAD wherever there is GET.
    const allowed: string[] = methods.includes('GET') ? [...methods, 'HEAD'] : methods
    app.route({
      method: app.supportedMethods.filter((method) => !allowed.includes(method)),
      url: path,
      schema: { hide: true },
      onRequest: async (request, reply) => {
        reply.header('allow', allowed.join(', '))
        const message = `${request.method} is not for this path.`
        throw await countRefusal(request, new AppError('method_not_allowed', 'method_not_allowed', message))
      },
      handler: () => undefined,
    })
  }
}

function send(reply: FastifyReply, { status, body, headers }: Answer): FastifyReply {
  reply.code(status)
  if (headers) reply.headers(headers)
  return body instanceof JsonText ? reply.type(JSON_TYPE).send(bytesOf(body)) : reply.send(body)
}

// What Node.js encodes on the stack, and writes in one piece with the headers.
const SHORT_TEXT = 16_384

/** A socket would encode a long text more slowly. */
function bytesOf({ text }: JsonText): string | Buffer {
  return text.length < SHORT_TEXT ? text : Buffer.from(text)
}
