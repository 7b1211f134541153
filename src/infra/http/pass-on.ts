import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiConnection } from './api-connection.ts'
import { peerAddress } from './client-address.ts'
import { malformed } from './framing.ts'
import { endToEndHeaders, type Sender } from './headers-for-api.ts'
import { unauthenticated, type Identify } from './identity.ts'
import { staysBelowPrefix } from './request-path.ts'

export interface PassOnOptions {
  readonly api: Pick<ApiConnection, 'send'>
  /** Identifies the caller, by a token alone. */
  readonly identify: Identify
}

const LOGIN = '/auth/login'

/** Passes every request that no route matches to the api, on behalf of the user of its token. */
export async function passOn(app: FastifyInstance, { api, identify }: PassOnOptions): Promise<void> {
  app.removeAllContentTypeParsers()
  // The api checks the body; the gateway passes it through unread.
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

async function forward(
  api: Pick<ApiConnection, 'send'>,
  { method, url, headers, body }: FastifyRequest,
  reply: FastifyReply,
  sender: Sender,
): Promise<FastifyReply> {
  if (!staysBelowPrefix(url)) throw malformed('the path', 'must not contain ".." or begin with "//"')
  const stream = body instanceof Readable ? body : undefined
  const response = await api.send({ method, path: url, headers, body: stream }, sender, disconnectOf(reply))
  reply.code(response.statusCode ?? 502).headers(endToEndHeaders(response.headers))
  // When the answer breaks off, its head is sent already: closing the connection shows the client that it is incomplete.
  return reply.send(response)
}

/** Aborted when the client disconnects before its answer is sent. */
function disconnectOf({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) disconnected.abort()
  })
  return disconnected.signal
}
