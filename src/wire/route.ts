import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Identity, Role } from '../kernel/identity.ts'
import { JsonText } from '../kernel/json-text.ts'
import type { Tx } from '../store/store.ts'
import type { ErrorCodes } from './error-codes.ts'

/** Who may call: everybody, whoever is known, or who has one of the roles. */
export type Access = 'public' | 'authenticated' | readonly Role[]

/** A request whose parts have passed their schemas. */
export interface RouteRequest<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Of the caller; on a public route it may be {@link ANONYMOUS}. */
  readonly identity: Identity
  readonly headers: IncomingHttpHeaders
  /** Where it comes from: the TCP peer, or the client that a trusted peer names. */
  readonly remoteAddress: string
}

/** What goes back: `body` is JSON that the schema of that status describes. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface AnswerSchema {
  readonly description: string
  /** Left out where there is no body. */
  readonly schema?: TSchema
  /** Of the body; `application/json` when left out. */
  readonly contentType?: string
}

interface Operation<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters as `/orders/:order_id`. */
  readonly path: string
  /** Name of the operation in the OpenAPI document; camelCase. */
  readonly operation: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly answers: Readonly<Record<number, AnswerSchema>>
  /** Errors of its own, beside those that every operation may answer with. */
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
  /** Runs before the transaction: for what takes time and touches no row, such as hashing a password. */
  readonly prepare?: (request: RouteRequest<Static<P>, Static<Q>, Static<B>>) => Promise<T> | T
  /** Runs in the transaction, which may be repeated as a whole. */
  readonly change: (
    tx: Tx,
    request: RouteRequest<Static<P>, Static<Q>, Static<B>>,
    prepared: T,
  ) => Promise<Answer>
  /**
   * Runs after the commit, also for an answer that is replayed: brings a successful answer up to date with what
   * happens outside the database. It must end within a bounded time.
   */
  readonly afterCommit?: (answer: Answer) => Promise<Answer>
}

/** An operation of the API as data: the server, the OpenAPI document and the tests all read the same. */
export type Route = ReadRoute<TSchema, TSchema, TSchema> | ChangeRoute<TSchema, TSchema, TSchema, unknown>

/** Types the functions of a route by the schemas beside them. */
export function route<P extends TSchema, Q extends TSchema, B extends TSchema, T = undefined>(
  definition: ReadRoute<P, Q, B> | ChangeRoute<P, Q, B, T>,
): Route {
  // The server calls them with exactly what these schemas and `prepare` have returned.
  return definition as Route
}

/** Whether the operation runs in a transaction; such a route is refused while the platform is read-only. */
export function isChange(route: Route): route is ChangeRoute<TSchema, TSchema, TSchema, unknown> {
  return 'change' in route
}

/** The caller of a public route who has not said who they are. */
export const ANONYMOUS: Identity = { id: 'anonymous', name: 'anonymous', roles: [], via: 'headers' }

export function ok(body: unknown, headers?: Answer['headers']): Answer {
  return headers ? { status: 200, body, headers } : { status: 200, body }
}

export function created(body: unknown, headers?: Answer['headers']): Answer {
  return headers ? { status: 201, body, headers } : { status: 201, body }
}

/** The body of an answer as data, also when it is JSON text or was stored. */
export function bodyOf(answer: Answer): unknown {
  return answer.body instanceof JsonText ? answer.body.toJSON() : answer.body
}
