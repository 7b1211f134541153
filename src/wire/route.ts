import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Identity, Role } from '../kernel/identity.ts'
import type { SpecificErrorCode } from './error-codes.ts'

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

export interface RouteDefinition<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters as `/orders/:order_id`. */
  readonly path: string
  /** Name of the operation in the OpenAPI document; camelCase. */
  readonly operation: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  /** Whether it is refused while the platform is read-only; by default everything but GET. */
  readonly mutates?: boolean
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly answers: Readonly<Record<number, AnswerSchema>>
  /** Codes of its own, beside those that every operation has. */
  readonly errors?: readonly SpecificErrorCode[]
  readonly handle: (request: RouteRequest<Static<P>, Static<Q>, Static<B>>) => Promise<Answer> | Answer
  /**
   * Brings a good answer up to date after what it tells of is committed, also when it is one that was kept under an
   * `Idempotency-Key`: the place to wait for something outside the database.
   */
  readonly finish?: (answer: Answer) => Promise<Answer>
}

/** An operation of the API as data: the server, the OpenAPI document and the tests all read the same. */
export type Route = RouteDefinition<TSchema, TSchema, TSchema>

/** Types the handler by the schemas beside it. */
export function route<P extends TSchema, Q extends TSchema, B extends TSchema>(
  definition: RouteDefinition<P, Q, B>,
): Route {
  // The server hands the handler exactly what these schemas have let through.
  return definition
}

/** Whether a route is refused while the platform is read-only. */
export function isMutation({ method, mutates }: Pick<Route, 'method' | 'mutates'>): boolean {
  return mutates ?? method !== 'GET'
}

/** The caller of a public route who has not said who they are. */
export const ANONYMOUS: Identity = { id: 'anonymous', name: 'anonymous', roles: [], via: 'headers' }

export function ok(body: unknown, headers?: Answer['headers']): Answer {
  return headers ? { status: 200, body, headers } : { status: 200, body }
}

export function created(body: unknown, headers?: Answer['headers']): Answer {
  return headers ? { status: 201, body, headers } : { status: 201, body }
}
