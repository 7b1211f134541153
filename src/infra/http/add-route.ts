import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { endOfTurn } from '../../kernel/waiting.ts'
import { AppError, readOnlyError } from '../../kernel/errors.ts'
import { hasRole, type Identity, type TokenPurpose } from '../../kernel/identity.ts'
import { newTrace, runInTrace, type Trace } from '../../kernel/trace.ts'
import { ConstantContent } from '../../wire/constant-content.ts'
import { CSV } from '../../wire/csv.ts'
import { EVENT_STREAM } from '../../wire/event-stream.ts'
import { FileContent } from '../../wire/file-content.ts'
import {
  ANONYMOUS,
  isChange,
  isConditional,
  isPolicy,
  isStream,
  maxBodyBytes,
  type Access,
  type Answer,
  type ReadRoute,
  type Route,
  type RouteRequest,
  type StreamRoute,
} from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import { noteOutcome, recordedChange, keyedRequest, type Changes } from './changes.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import type { Logger } from '../../kernel/logger.ts'
import { csvListOf, wantsCsv, type CsvList } from './csv-response.ts'
import { peerAddress, type ClientAddress } from './client-address.ts'
import { compressedFor, isCompressible, varyBy, sendAnswer, sendConstant } from './response.ts'
import { sendFile } from './file-response.ts'
import { matchesTag } from '../../wire/entity-tag.ts'
import { unauthenticatedError, type Identify } from './identity.ts'
import type { CountRefusal } from './rate-limit.ts'
import { type LongResponses, sendStream } from './stream-response.ts'
import { refuseFields } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null until the route has identified it, and on public routes. */
    identity: Identity | null
    /** Undefined until the first hook has read it. */
    trace: Trace | undefined
  }
  interface FastifyContextConfig {
    /** Not measured, not counted for the limit of calls, and logged for developers only. */
    isProbe?: boolean
  }
}

export interface RouteOptions {
  readonly identify: Identify
  readonly readOnly: boolean
  readonly clientAddress?: ClientAddress
  readonly changes?: Changes
  /** Without it nothing is recorded in the audit trail. */
  readonly audit?: AuditTrail
  readonly logger: Logger
  readonly countRefusal: CountRefusal
  readonly longResponses: LongResponses
}

/** A parameter that the operation would ignore is refused, so that `?dry_run=true` changes nothing by mistake. */
const NO_QUERY = Fields({})

/** Adds an operation to the server. */
export function addRoute(app: FastifyInstance, route: Route, options: RouteOptions): void {
  const { params, query = NO_QUERY, body } = route
  const respond = isStream(route) ? streamer(route, options) : responder(route, options)
  const note = refusalNotes(route, options)
  app.route({
    method: route.method,
    url: route.path,
    schema: { ...(params && { params }), querystring: query, ...(body && { body }) },
    bodyLimit: maxBodyBytes(route),
    onRequest: admission(route, options),
    config: { isProbe: route.isProbe === true },
    ...(route.isBodyOptional && { preValidation: completeBody }),
    handler: (request, reply) => {
      if (route.takesRawBody) request.body ??= Buffer.alloc(0)
      else if (!body) refuseFields(request.body)
      // The body has come in the context of its connection.
      return runInTrace(request.trace ?? newTrace(), () => respond(request, reply)).catch(
        async (error: unknown) => {
          await note(request, error)
          throw error
        },
      )
    },
  })
}

/** Records that a known caller may not do something, or that a recorded change has failed. */
function refusalNotes(route: Route, { audit, readOnly, clientAddress = peerAddress }: RouteOptions) {
  return async (request: FastifyRequest, error: unknown): Promise<void> => {
    if (!audit || readOnly || !request.identity) return
    const outcome = outcomeOf(error, route)
    if (outcome) await noteOutcome(audit, route, routeRequest(request, clientAddress), outcome)
  }
}

function completeBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.body === undefined) request.body = {}
  done()
}

/** A wrong request, a conflict and a database that is away are said to the caller alone. */
function outcomeOf(error: unknown, route: Route): 'refused' | 'failed' | undefined {
  if (error instanceof AppError && error.kind === 'forbidden') return 'refused'
  const isDefect = !(error instanceof AppError) || error.kind === 'internal'
  return isDefect && 'audit' in route && route.audit ? 'failed' : undefined
}

/** Identifies the caller and checks its rights, before the body is read. */
function admission(route: Route, options: RouteOptions) {
  const { access, purpose } = route
  const { identify, readOnly, countRefusal } = options
  const note = refusalNotes(route, options)
  const refusesChange = readOnly && isChange(route)
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const refuse = async (fault: Error) => {
      await note(request, fault)
      done(await countRefusal(request, fault))
    }
    const finish = (fault: AppError | undefined) => {
      const refusal = fault ?? (refusesChange ? readOnlyError() : undefined)
      if (refusal) void refuse(refusal)
      else done()
    }
    const admit = (identity: Identity | undefined) => {
      request.identity = identity ?? null
      const fault = purposeFault(identity, purpose) ?? accessFault(access, identity, request)
      if (fault instanceof Promise) fault.then(finish, refuse)
      else finish(fault)
    }
    try {
      // A public route does not use the identity, so an invalid one is no reason to refuse the call.
      const identity = access === 'public' ? undefined : identify(request.raw)
      if (identity instanceof Promise) identity.then(admit, refuse)
      else admit(identity)
    } catch (error) {
      void refuse(error as Error)
    }
  }
}

function accessFault(
  access: Access,
  identity: Identity | undefined,
  request: FastifyRequest,
): AppError | undefined | Promise<AppError | undefined> {
  if (access === 'public') return undefined
  if (!identity) return unauthenticatedError('The call needs a Bearer token in its Authorization header.')
  if (access === 'authenticated') return undefined
  if (isPolicy(access)) {
    const params = request.params as Record<string, string>
    return Promise.try(access.allows, { identity, params }).then((isAllowed) =>
      isAllowed ? undefined : forbidden('The policy of this operation does not allow you this call.'),
    )
  }
  return hasRole(identity, access)
    ? undefined
    : forbidden(`The call needs one of the roles ${access.join(', ')}.`)
}

/** A token that is limited to another purpose. */
export function purposeFault(identity: Identity | undefined, purpose?: TokenPurpose): AppError | undefined {
  if (identity?.purpose === undefined || identity.purpose === purpose) return undefined
  return forbidden(`The token was issued for the purpose ${identity.purpose} and is good for nothing else.`)
}

function forbidden(message: string): AppError {
  return new AppError('forbidden', 'forbidden', message)
}

type Respond = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function responder(route: Answered, options: RouteOptions): Respond {
  const answer = answerer(route, options)
  const list = csvListOf(route)
  const [hasTags, mayCompress] = [isConditional(route), isCompressible(route)]
  return async (request, reply) => {
    if (list) varyBy(reply, 'accept')
    if (list && wantsCsv(request.headers)) return sendCsv(request, reply, list, options)
    const given = await answer(request)
    if (given.body instanceof FileContent) return sendFile(request, reply, given.body, options.longResponses)
    if (given.body instanceof ConstantContent) return sendConstant(request, reply, given, given.body)
    if (hasTags && isKnownTo(request, given)) return sendNotModified(reply, given)
    const sent = mayCompress ? compressedFor(request, reply, given) : given
    return sendAnswer(reply, sent instanceof Promise ? await sent : sent)
  }
}

async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, read }: CsvList,
  { clientAddress = peerAddress, longResponses, logger }: RouteOptions,
): Promise<FastifyReply> {
  const table = await read(routeRequest(request, clientAddress))
  if (!('write' in table)) return sendAnswer(reply, table)
  reply.headers({ ...table.headers, 'content-disposition': `attachment; filename="${name}"` })
  await sendStream(request, reply, table.write, {
    contentType: `${CSV}; charset=utf-8`,
    isWhole: true,
    longResponses,
    logger,
  })
  return reply
}

/** Whether the client has what it asks for (RFC 9110, section 13.1.2). */
function isKnownTo({ headers }: FastifyRequest, { status, headers: given }: Answer): boolean {
  const known = headers['if-none-match']
  const tag = given?.['etag']
  return known !== undefined && status === 200 && tag !== undefined && matchesTag(known, tag, 'weak')
}

function sendNotModified(reply: FastifyReply, { headers = {} }: Answer): FastifyReply {
  return reply.code(304).headers(headers).send()
}

function streamer(route: StreamRoute<TSchema, TSchema>, options: RouteOptions): Respond {
  const { clientAddress = peerAddress, longResponses, logger } = options
  const contentType = route.answers[200]?.contentType ?? 'application/octet-stream'
  return async (request, reply) => {
    const body = await route.stream(routeRequest(request, clientAddress))
    const isWhole = contentType !== EVENT_STREAM
    await sendStream(request, reply, body, { contentType, isWhole, longResponses, logger })
    return reply
  }
}

type Answered = Exclude<Route, StreamRoute<TSchema, TSchema>>

function answerer(route: Answered, options: RouteOptions): (request: FastifyRequest) => Promise<Answer> {
  const { clientAddress = peerAddress, changes, logger, audit } = options
  if (!isChange(route)) return reader(route, clientAddress)
  if (!changes) throw new Error(`${route.operation} changes data, so the server needs the option "changes".`)
  const change = recordedChange(route, audit)
  return async (request) => {
    const given = routeRequest(request, clientAddress)
    const answer = await changes.run(
      {
        prepare: () => route.prepare?.(given),
        change: (tx, prepared) => change(tx, given, prepared),
        touches: route.touches && ((prepared) => route.touches?.(given, prepared) ?? []),
      },
      route.method === 'POST' ? keyOf(request) : undefined,
    )
    if (!route.updateAnswer || answer.status >= 400) return answer
    // The change is committed: the client must hear that, also when its outcome cannot be read again.
    const updated = await route.updateAnswer(answer).catch((error: unknown) => {
      logger.warn({ request_id: request.id, error }, 'a committed change could not be read again')
      return answer
    })
    return { ...updated, headers: { ...answer.headers, ...updated.headers } }
  }
}

/** Answers to reads are sent together; those to changes are, after the commit that they share. */
function reader(route: ReadRoute<TSchema, TSchema, TSchema>, clientAddress: ClientAddress) {
  return async (request: FastifyRequest): Promise<Answer> => {
    const answer = await route.read(routeRequest(request, clientAddress))
    await endOfTurn()
    return answer
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
    requestId: request.id,
  }
}
