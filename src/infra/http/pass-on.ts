import { Readable } from 'node:stream'
import replyFrom from '@fastify/reply-from'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiConnection } from './api-connection.ts'
import { peerAddress } from './client-address.ts'
import { malformed } from './framing.ts'
import { endToEndHeaders, headersForApi, type Sender } from './headers-for-api.ts'
import { unauthenticated, type Identify } from './identity.ts'

export interface PassOnOptions {
  readonly api: ApiConnection
  /** Who is calling, by a token alone. */
  readonly identify: Identify
}

const LOGIN = '/auth/login'

/** Passes every request that no route is for to the api, as coming from the holder of its token. */
export async function passOn(app: FastifyInstance, { api, identify }: PassOnOptions): Promise<void> {
  await app.register(replyFrom, {
    base: api.url.origin,
    http: { agents: api.agents, requestOptions: api.requestOptions },
    disableRequestLogging: true,
  })
  app.removeAllContentTypeParsers()
  // The api judges the body; the gateway lets it through as it comes.
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.post(LOGIN, (request, reply) =>
    forward(api, request, reply, {
      identity: undefined,
      requestId: request.id,
      address: peerAddress(request.raw),
    }),
  )
  app.all('/*', {
    onRequest: async (request) => {
      const identity = await identify(request.raw)
      if (!identity) throw unauthenticated('The call needs a Bearer token in its Authorization header.')
      request.identity = identity
    },
    handler: (request, reply) =>
      forward(api, request, reply, { identity: request.identity ?? undefined, requestId: request.id }),
  })
}

function forward(
  api: ApiConnection,
  request: FastifyRequest,
  reply: FastifyReply,
  sender: Sender,
): FastifyReply {
  const hasBody = request.body instanceof Readable
  const path = `${api.url.pathname.replace(/\/$/, '')}${request.url.split('?', 1)[0]}`
  try {
    return reply.from(path, {
      rewriteRequestHeaders: (_request, headers) => ({
        ...headersForApi(headers, sender, api.host),
        ...(hasBody && framingOf(request.headers)),
      }),
      rewriteHeaders: (headers) => endToEndHeaders(headers),
      onResponse: (_request, _reply, { stream }) => {
        api.answered()
        void reply.send(stream)
      },
      retryDelay: ({ err, attempt }) => (attempt === 0 && isStale(err, request) ? RETRY_MS : null),
      onError: (_reply, { error }) => refuse(api, reply, error),
    })
  } catch (error) {
    throw malformed('the path', `cannot be passed on: ${error instanceof Error ? error.message : 'unknown'}`)
  }
}

const RETRY_MS = 1

/** A kept connection that the api had closed when the request came; nothing was done, or nothing that matters. */
function isStale(error: unknown, { method }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

/** A body goes out as it came in. What has none must not be announced as if it had: the next request would be read as it. */
function framingOf({ 'content-length': length }: FastifyRequest['headers']): Record<string, string> {
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }
}

function refuse(api: ApiConnection, reply: FastifyReply, error: Error): void {
  const known = api.failed(error.cause ?? error)
  // What has begun cannot be taken back; that it breaks off says so.
  if (reply.raw.headersSent) reply.raw.destroy()
  else void reply.send(known)
}
