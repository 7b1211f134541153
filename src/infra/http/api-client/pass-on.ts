import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { newTrace, runInTrace } from '../../../kernel/trace.ts'
import {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify'
import { maxBodyBytes } from '../../../wire/route.ts'
import { purposeFault } from '../add-route.ts'
import { isEventStream } from './answer-reader.ts'
import type { ApiConnection } from './api-connection.ts'
import { peerAddress, type ClientAddress } from '../client-address.ts'
import { endBehindLongBody, hasShortBody, isCutOff, waitUntilDiscarded } from '../discard-body.ts'
import { ClientLeft } from '../errors.ts'
import { malformedError, pathOf, staysBelowPrefix } from '../request.ts'
import { endToEndHeaders, type Sender } from './headers-for-api.ts'
import { unauthenticatedError, type Identify } from '../identity.ts'
import { type LongResponses, destroyUnlessFlushed } from '../stream-response.ts'
import type { CountRefusal } from '../rate-limit.ts'
import { methodNotAllowed, type MethodsAt } from '../unmatched.ts'

export interface PassOnOptions {
  readonly api: Pick<ApiConnection, 'send'>
  /** Identifies the caller, by a token alone. */
  readonly identify: Identify
  /** By default the TCP peer. */
  readonly clientAddress?: ClientAddress | undefined
  readonly longResponses: LongResponses
  /** Methods of the paths that are the gateway's own; their other methods are not passed on. */
  readonly methodsAt: MethodsAt
  readonly countRefusal: CountRefusal
}

/** Calls without a token: those of a sign-in, and those that prove themselves by a secret in the path or by a signature. */
const WITHOUT_TOKEN = [
  { method: 'POST', url: '/auth/login' },
  { method: 'GET', url: '/auth/oauth/login' },
  { method: 'GET', url: '/auth/oauth/callback' },
  { method: 'POST', url: '/auth/oauth/redeem' },
  { method: 'GET', url: '/auth/oauth/logout' },
  { method: 'POST', url: '/payments/callbacks/:channel', maxBodyBytes: 65_536 },
  { method: 'GET', url: '/payments/done' },
  { method: ['GET', 'HEAD', 'POST'], url: '/ping/*', maxBodyBytes: 262_144 },
] satisfies readonly { method: HTTPMethods | HTTPMethods[]; url: string; maxBodyBytes?: number }[]

/** Passes every request that no route matches to the api, on behalf of the user of its token. */
export async function passOn(app: FastifyInstance, options: PassOnOptions): Promise<void> {
  const { identify, clientAddress = peerAddress, methodsAt, countRefusal } = options
  const senderOf = ({ identity, id, raw }: FastifyRequest): Sender => {
    return { identity: identity ?? undefined, requestId: id, address: clientAddress(raw) }
  }
  app.removeAllContentTypeParsers()
  // The api checks the body; the gateway passes it through unread.
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  for (const { method, url, ...operation } of WITHOUT_TOKEN) {
    app.route({
      method,
      url,
      bodyLimit: maxBodyBytes({ access: 'public', ...operation }),
      onRequest: refuseLongBody,
      handler: (request, reply) => forward(options, request, reply, senderOf(request)),
    })
  }
  app.all('/*', {
    onRequest: async (request, reply) => {
      const own = methodsAt(pathOf(request))
      if (own.length > 0) throw await countRefusal(request, methodNotAllowed(request, reply, own))
      const identity = await identify(request.raw)
      if (!identity) throw unauthenticatedError('The call needs a Bearer token in its Authorization header.')
      const fault = purposeFault(identity)
      if (fault) throw await countRefusal(request, fault)
      request.identity = identity
    },
    handler: (request, reply) => forward(options, request, reply, senderOf(request)),
  })
}

/** Refuses a long body of an unknown sender before a connection to the api is opened, which would refuse it too. */
async function refuseLongBody({ headers, routeOptions: { bodyLimit } }: FastifyRequest): Promise<void> {
  if (Number(headers['content-length'] ?? 0) > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
}

async function forward(
  { api, longResponses }: PassOnOptions,
  { raw, method, url, headers, body, trace }: FastifyRequest,
  reply: FastifyReply,
  sender: Sender,
): Promise<FastifyReply> {
  if (!staysBelowPrefix(url)) throw malformedError('the path', 'must not contain ".." or begin with "//"')
  const stream = body instanceof Readable ? body : undefined
  const exchange = abortWhenClientLeaves(reply)
  const sent = runInTrace(trace ?? newTrace(), () =>
    api.send({ method, path: url, headers, body: stream }, sender, exchange.signal),
  )
  const response = await sent.catch((error: unknown) => {
    // Nothing else reads the rest of a short body; that of a long one is read behind the answer.
    raw.unpipe()
    if (hasShortBody(raw)) raw.resume()
    throw error
  })
  reply.code(response.status).headers(endToEndHeaders(response.headers))
  if (!raw.complete) {
    // The api has answered before it has the whole body, so it does not read the rest.
    raw.unpipe()
    response.body.once('end', () => exchange.abort())
    endBehindLongBody(raw, reply.raw)
    if (isCutOff(raw, reply.raw)) return reply.send(waitUntilDiscarded(response.body, raw, reply.raw))
    raw.resume()
  }
  // When the answer breaks off, its head is sent already: closing the connection shows the client that it is incomplete.
  return reply.send(
    isEventStream(response.headers)
      ? endWithToken(response.body, raw, reply.raw, longResponses)
      : response.body,
  )
}

/** Ends the body when the token of the caller ends: the api knows the caller by headers and cannot see that. */
function endWithToken(
  response: Readable,
  request: IncomingMessage,
  outgoing: ServerResponse,
  longResponses: LongResponses,
): Readable {
  const body = response.pipe(new PassThrough())
  response.once('error', (error) => body.destroy(error))
  const remove = longResponses.add(request, () => {
    response.unpipe(body).destroy()
    body.end()
    destroyUnlessFlushed(outgoing)
  })
  outgoing.once('close', remove)
  return body
}

/** Makes a controller that aborts when the client disconnects before its answer is sent. */
function abortWhenClientLeaves({ raw }: FastifyReply): AbortController {
  const exchange = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) exchange.abort(new ClientLeft())
  })
  return exchange
}
