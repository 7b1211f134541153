import type { AddressInfo, Socket } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { ANONYMOUS, isMutation, type Answer, type Route } from '../../wire/route.ts'
import { errorAnswer, toAppError } from './errors.ts'
import { framingFault } from './framing.ts'
import { keyedCall, type KeyedCall, type OnceOnly } from './idempotency.ts'
import { unauthenticated, type Identify } from './identity.ts'
import { openApiInfo, routeSchema } from './openapi.ts'
import { recordRequests } from './request-log.ts'
import { compileValidation } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; null until the route's own hook has asked. */
    identity: Identity | null
  }
}

export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly identify: Identify
  /** Who keeps the answers to POSTs that carry an `Idempotency-Key`; without it the header means nothing. */
  readonly onceOnly?: OnceOnly
  readonly logger: Logger
  readonly metrics: Metrics
  readonly version: string
  readonly readOnly: boolean
  /** Calls a minute that one caller may make; 0 for any number. */
  readonly rateLimitPerMinute: number
}

export interface HttpServer {
  /** Starts to accept; answers `host:port` with the port that the system chose for 0. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Stops accepting, lets the requests under way finish; may be called twice. */
  close(): Promise<void>
}

// contract, section 3: 413 above 1 MiB
const BODY_LIMIT = 1_048_576
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** What a browser that was led here must not do with an answer; the documentation page sets its own policy. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The API's HTTP server with these routes, their OpenAPI document and its page; not yet listening. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 15_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 5_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000 },
    routerOptions: { maxParamLength: 1_024 },
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    requestIdHeader: false,
    clientErrorHandler: answerBrokenRequest,
    logger: false,
  })
  app.decorateRequest('identity', null)
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const validate = compileValidation(
      schema,
      httpPart === 'body' ? 'body' : httpPart === 'params' ? 'params' : 'query',
    )
    return (value: unknown) => {
      try {
        return { value: validate(value) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  })
  acceptJsonOnly(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(SECURITY_HEADERS)
    done(framingFault(request.raw))
  })
  recordRequests(app, options)
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error)
    if (known.kind === 'internal')
      options.logger.error({ request_id: request.id, error: known.cause }, 'a request failed')
    return send(reply, errorAnswer(known))
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string
    return send(
      reply,
      errorAnswer(new AppError('not_found', 'route_not_found', `There is no path ${JSON.stringify(path)}.`)),
    )
  })
  await describe(app, options.version)
  if (options.rateLimitPerMinute > 0) await limitRate(app, options.rateLimitPerMinute)
  await app.register(async (scope) => {
    for (const route of options.routes) addRoute(scope, route, options)
    refuseOtherMethods(scope, options.routes)
  })
  return {
    async listen(address) {
      // A copy: the framework writes into it.
      await app.listen({ ...address })
      const bound = app.server.address() as AddressInfo
      return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
    },
    close: () => app.close(),
  }
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** A body is JSON or nothing; no body at all is left to the route's schema. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    void parse(request, body as string, (error, value) => {
      if (!error) return done(null, value)
      done(new AppError('invalid', 'malformed_json', 'The body is not JSON.', { cause: error }))
    })
  })
}

async function describe(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: openApiInfo(version),
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true },
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}

async function limitRate(app: FastifyInstance, perMinute: number): Promise<void> {
  await app.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: ({ identity, socket }) =>
      identity ? `user ${identity.id}` : `peer ${socket.remoteAddress}`,
    errorResponseBuilder: (_request, { ttl }) =>
      new AppError('rate_limited', 'rate_limited', 'Too many calls in the last minute.', {
        retryAfterSeconds: ttl / 1_000,
      }),
    addHeaders: { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false },
    addHeadersOnExceeding: {
      'x-ratelimit-limit': false,
      'x-ratelimit-remaining': false,
      'x-ratelimit-reset': false,
    },
  })
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  { identify, onceOnly, readOnly }: HttpServerOptions,
): void {
  const refuseChange = readOnly && isMutation(route)
  app.route({
    method: route.method,
    url: route.path,
    schema: routeSchema(route),
    onRequest: (request, _reply, done) => {
      const admit = (identity: Identity | undefined) => {
        request.identity = identity ?? null
        done(refusal(route, identity) ?? (refuseChange ? readOnlyError() : undefined))
      }
      try {
        // A public route has no use for an identity, so a bad one does not stop it.
        const identity = route.access === 'public' ? undefined : identify(request.raw)
        if (identity instanceof Promise) identity.then(admit, done)
        else admit(identity)
      } catch (error) {
        done(error as Error)
      }
    },
    handler: async (request, reply) => {
      const handle = async () => route.handle(routeRequest(request))
      const { identity, headers } = request
      const call =
        onceOnly && identity && route.method === 'POST'
          ? keyedCall(headers['idempotency-key'], identity, request)
          : undefined
      const answer = onceOnly && call ? await answerOnce(onceOnly, call, handle) : await handle()
      return send(reply, route.finish && answer.status < 400 ? await finished(route.finish, answer) : answer)
    },
  })
}

/** A refusal of the first call is its answer too, and comes again; a failure of ours is tried anew. */
async function answerOnce(
  onceOnly: OnceOnly,
  call: KeyedCall,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  const { replayed, ...answer } = await onceOnly.once(call, handle)
  return replayed ? { ...answer, headers: { ...answer.headers, 'idempotent-replay': 'true' } } : answer
}

async function finished(finish: NonNullable<Route['finish']>, answer: Answer): Promise<Answer> {
  const { status, body } = await finish(answer)
  return { ...answer, status, body }
}

function routeRequest(request: FastifyRequest): Parameters<Route['handle']>[0] {
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    identity: request.identity ?? ANONYMOUS,
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress ?? '',
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
function refuseOtherMethods(app: FastifyInstance, routes: readonly Route[]): void {
  for (const [path, known] of Map.groupBy(routes, (route) => route.path)) {
    const allowed = known.map(({ method }) => method)
    const others = METHODS.filter((method) => !(allowed as readonly string[]).includes(method))
    app.route({
      method: others,
      url: path,
      schema: { hide: true },
      onRequest: (request, reply, done) => {
        reply.header('allow', allowed.join(', '))
        done(
          new AppError('method_not_allowed', 'method_not_allowed', `${request.method} is not for this path.`),
        )
      },
      handler: () => undefined,
    })
  }
}

function send(reply: FastifyReply, { status, body, headers }: Answer): FastifyReply {
  reply.code(status)
  if (headers) reply.headers(headers)
  return reply.send(body)
}

const BROKEN_REQUESTS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are larger than 16 KiB.'],
}

/** What is no HTTP never becomes a request; the connection gets one answer and ends. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] = BROKEN_REQUESTS[error.code ?? ''] ?? [
    '400 Bad Request',
    'The request is not well-formed HTTP.',
  ]
  const body = JSON.stringify({ code: 'validation_failed', message })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\n` +
      `X-Request-Id: ${newId()}\r\nConnection: close\r\n\r\n${body}`,
  )
}
