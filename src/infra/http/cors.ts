import type { FastifyInstance } from 'fastify'

/** What a page of another origin may send. Not the headers that name an identity: such a page has a token. */
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
/** What it may read besides the body and what the standard allows (Fetch, section 3.3.3). */
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
 * Lets pages of these origins call the server, with a token of their own: never with cookies, and no others. Without any
 * there is nothing.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
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
