import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Identity, Role, TokenPurpose } from '../kernel/identity.ts'
import { JsonText } from '../kernel/text.ts'
import type { TouchedRow, Tx } from '../store/store.ts'
import type { ErrorCodes } from './error-codes.ts'
import type { StreamBody } from './stream.ts'

/** Who may call: everyone, every authenticated caller, callers with one of the roles, or callers that a policy allows. */
export type Access = 'public' | 'authenticated' | readonly Role[] | AccessPolicy

/** Decides at run time whether an authenticated caller may call: for rights that are data. */
export interface AccessPolicy {
  /** One sentence for the OpenAPI document. */
  readonly description: string
  /** Runs for each call, before its body is read. May read the database; an error that it throws becomes the response. */
  readonly allows: (call: PolicyCall) => Promise<boolean> | boolean
}

/** What a policy decides on. */
export interface PolicyCall {
  readonly identity: Identity
  /** Parameters of the path, as text; not validated yet. */
  readonly params: Readonly<Record<string, string>>
}

export function isPolicy(access: Access): access is AccessPolicy {
  return typeof access === 'object' && 'allows' in access
}

/** A request whose parts match their schemas. */
export interface RouteRequest<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Identity of the caller; {@link ANONYMOUS} on a public route. */
  readonly identity: Identity
  readonly headers: IncomingHttpHeaders
  /** Address of the client: the TCP peer, or the client that a trusted peer names. */
  readonly remoteAddress: string
  /** The `X-Request-Id` of the response. */
  readonly requestId: string
}

/** A response; the route's schema of that status describes its `body`. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  /** What a repetition of the request with its `Idempotency-Key` gets instead: the body without what is shown once. */
  readonly storedBody?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface AnswerSchema {
  readonly description: string
  /** Left out where there is no body. */
  readonly schema?: TSchema
  /** Type of the body; `application/json` when left out. */
  readonly contentType?: string
  /** Whether its `ETag` names the version; a `GET` is answered 304 when its `If-None-Match` names it. */
  readonly hasTag?: true
  /**
   * Whether the body also changes while its version stays, such as by the roles of the caller: then a `GET` is never answered
   * 304.
   */
  readonly changesWithoutTag?: true
}

/** What the audit trail records of an operation (docs/specification.md, Audit); the server records the rest. */
export interface AuditRule<P extends TSchema, Q extends TSchema, B extends TSchema> {
  /** The kind of object that the operation changes: `user`. */
  readonly kind: string
  /**
   * The id of the object; by default the first parameter of the path, else the `id` of the answer. `answer`: that of the
   * answer, although the path has a parameter.
   */
  readonly id?:
    | 'answer'
    | ((request: RouteRequest<Static<P>, Static<Q>, Static<B>>, answer: object | undefined) => string | null)
  /**
   * The object before the change, in the form of the answer's body; undefined where there is none. A request that changes
   * nothing of it is not recorded. Left out, the record has no changes but those of a new object.
   */
  readonly before?: (
    tx: Tx,
    request: RouteRequest<Static<P>, Static<Q>, Static<B>>,
  ) => Promise<object | undefined>
  /** The object after the change, where the answer's body is something else. */
  readonly after?: (tx: Tx) => Promise<object>
  /** The statuses of the successful requests that have changed something and are recorded; left out: all. */
  readonly recordedStatuses?: readonly number[]
}

interface Operation<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters as `/orders/:order_id`. */
  readonly path: string
  /** Name of the operation in the OpenAPI document; camelCase. */
  readonly operation: string
  /** Its group in the OpenAPI document. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  /** Tokens of this purpose may call it, and no other operation. */
  readonly purpose?: TokenPurpose
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** See {@link maxBodyBytes}. */
  readonly maxBodyBytes?: number
  /** Whether a supervisor calls it every few seconds: it is not measured, and logged for developers only. */
  readonly isProbe?: true
  /** Whether the body is bytes of any media type, which the operation reads itself: a `Buffer`. */
  readonly takesRawBody?: true
  /** Whether a request without a body counts as one with an empty object. */
  readonly isBodyOptional?: true
  /** False where a request that is sent twice changes something twice, although its method is idempotent. */
  readonly isRepeatable?: false
  readonly answers: Readonly<Record<number, AnswerSchema>>
  /** Errors of this operation, in addition to the common ones. */
  readonly errors?: ErrorCodes
}

/** An operation that changes nothing, or that must work while the platform is read-only. */
export interface ReadRoute<P extends TSchema, Q extends TSchema, B extends TSchema> extends Operation<
  P,
  Q,
  B
> {
  readonly read: (request: RouteRequest<Static<P>, Static<Q>, Static<B>>) => Promise<Answer> | Answer
}

/**
 * An operation that changes something, in one transaction. The server opens the transaction, claims the
 * `Idempotency-Key` in it, runs `change`, stores the answer in it and commits. It is refused while the platform is
 * read-only.
 */
export interface ChangeRoute<P extends TSchema, Q extends TSchema, B extends TSchema, T> extends Operation<
  P,
  Q,
  B
> {
  /** Runs before the transaction: for slow work without database rows, such as hashing a password. */
  readonly prepare?: (request: RouteRequest<Static<P>, Static<Q>, Static<B>>) => Promise<T> | T
  /** Left out where the audit trail does not record the operation. */
  readonly audit?: AuditRule<P, Q, B>
  /** The rows that let `change` share a transaction with other writes; left out, it has one for itself. */
  readonly touches?: (
    request: RouteRequest<Static<P>, Static<Q>, Static<B>>,
    prepared: T,
  ) => readonly TouchedRow[]
  /** Runs in the transaction, which may be repeated as a whole. */
  readonly change: (
    tx: Tx,
    request: RouteRequest<Static<P>, Static<Q>, Static<B>>,
    prepared: T,
  ) => Promise<Answer>
  /**
   * Updates a successful answer with what happens outside the database: after the commit, and when the answer is sent again
   * for its `Idempotency-Key`. It must end within a bounded time.
   */
  readonly updateAnswer?: (answer: Answer) => Promise<Answer>
}

/**
 * An operation whose response is streamed for a long time: until its token expires or is revoked, or the server stops. The
 * response has the status 200 and the `contentType` of `answers[200]`.
 */
export interface StreamRoute<P extends TSchema, Q extends TSchema> extends Operation<P, Q, TSchema> {
  readonly method: 'GET'
  /** Runs before the response begins; an error that it throws becomes the response. */
  readonly stream: (request: RouteRequest<Static<P>, Static<Q>, unknown>) => Promise<StreamBody>
}

/** An operation of the API as data, for the server, the OpenAPI document and the tests. */
export type Route =
  | ReadRoute<TSchema, TSchema, TSchema>
  | ChangeRoute<TSchema, TSchema, TSchema, unknown>
  | StreamRoute<TSchema, TSchema>

type Untagged<R> = Omit<R, 'tag'>

/** Returns a function that declares a route of this tag; the schemas of the route determine the types of its functions. */
export function routeOf(tag: string) {
  return <P extends TSchema, Q extends TSchema, B extends TSchema, T = undefined>(
    definition:
      | Untagged<ReadRoute<P, Q, B>>
      | Untagged<ChangeRoute<P, Q, B, T>>
      | Untagged<StreamRoute<P, Q>>,
  ): Route => {
    const tagged = { ...definition, tag }
    // The server validates requests by these schemas and passes on the result of `prepare`.
    return tagged as Route
  }
}

/** The answer with an object whose `ETag` names its version. */
export function versioned(description: string, schema: TSchema): AnswerSchema {
  return { description, schema, hasTag: true }
}

/** Whether the operation runs in a transaction; such a route is refused while the platform is read-only. */
export function isChange(route: Route): route is ChangeRoute<TSchema, TSchema, TSchema, unknown> {
  return 'change' in route
}

/** Whether the server answers 304 to a client that has the object already. */
export function isConditional({ method, answers }: Pick<Route, 'method' | 'answers'>): boolean {
  const { hasTag, changesWithoutTag } = answers[200] ?? {}
  return method === 'GET' && hasTag === true && !changesWithoutTag
}

/** Whether the response of the operation is streamed. */
export function isStream(route: Route): route is StreamRoute<TSchema, TSchema> {
  return 'stream' in route
}

// docs/specification.md, Limits
const MAX_BODY_BYTES = 1_048_576
const MAX_PUBLIC_BODY_BYTES = 16_384

/** How large the body of a request may be: much smaller while nobody knows who sends it. */
export function maxBodyBytes(route: Pick<Route, 'access' | 'maxBodyBytes'>): number {
  return route.maxBodyBytes ?? (route.access === 'public' ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES)
}

/** The caller of a public route. */
export const ANONYMOUS: Identity = { id: 'anonymous', name: 'anonymous', roles: [], via: 'headers' }

/** A text needs its content type: without one it would be sent as `text/plain`. */
type HeadersOf<B> = B extends string ? [headers: Answer['headers'] & {}] : [headers?: Answer['headers']]

export function ok<B>(body: B, ...[headers]: HeadersOf<B>): Answer {
  return headers ? { status: 200, body, headers } : { status: 200, body }
}

/** `collection`: the path of its list; with the id it is where the new object is read. */
export function created(
  collection: string,
  id: string,
  body: object,
  headers: Answer['headers'] = {},
): Answer {
  return { status: 201, body, headers: { ...headers, location: `${collection}/${encodeURIComponent(id)}` } }
}

/** The body of an answer as data, even if it is JSON text or was stored. */
export function bodyOf(answer: Answer): unknown {
  return answer.body instanceof JsonText ? answer.body.toJSON() : answer.body
}
