import { callApi, errorMessage, type Fetch } from './call.ts'
import { OPERATIONS, type Operations } from './generated.ts'

export type OperationName = keyof Operations
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer']
export type BodyOf<Name extends OperationName> = Operations[Name]['body']

/** What is wrong with one field of a request. `path` is dotted: `items.0.title`. */
export interface FieldFault {
  readonly path: string
  readonly message: string
}

/** Why a call failed. `code` is the API's, or `unreachable`. */
export interface ApiFailure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details: readonly FieldFault[]
  readonly retryAfterSeconds: number | null
}

export type ApiResult<T> =
  | { readonly ok: true; readonly value: T; readonly etag: string | null }
  | { readonly ok: false; readonly failure: ApiFailure }

/** The parameters of a query; one that is undefined is not sent. */
export type QueryOf<Name extends OperationName> = {
  readonly [Key in keyof Operations[Name]['query']]?: Operations[Name]['query'][Key] | undefined
}

type Part<Key extends string, Value> = undefined extends Value
  ? { readonly [Each in Key]?: Value }
  : { readonly [Each in Key]: Value }

export type RequestOf<Name extends OperationName> = Part<'path', Operations[Name]['path']> &
  Part<'body', BodyOf<Name>> & {
    readonly query?: QueryOf<Name>
    /** The `ETag` of the version that the change is meant for. */
    readonly ifMatch?: string | null
  }

export interface CallerDeps {
  readonly fetch: Fetch
  /** The token of the caller; null for a call without one. */
  readonly token: () => string | null
  /** A call with this token was refused as unauthenticated. */
  readonly onRefused: (token: string) => void
}

/** Calls an operation of the API by its name. Rejects only when the signal aborts. */
export type CallOperation = <Name extends OperationName>(
  name: Name,
  request: RequestOf<Name>,
  signal?: AbortSignal,
) => Promise<ApiResult<AnswerOf<Name>>>

export function createCaller({ fetch, token, onRefused }: CallerDeps): CallOperation {
  return async <Name extends OperationName>(name: Name, request: RequestOf<Name>, signal?: AbortSignal) => {
    const bearer = token()
    const { target, init } = toHttp(name, request, bearer)
    const result = await callApi(fetch, target, init, signal)
    if (result.kind === 'unanswered') return { ok: false, failure: UNREACHABLE }
    const { status, body, retryAfter, etag } = result
    if (status === 401 && bearer !== null) onRefused(bearer)
    // The document of the API describes its answers; the types are generated from it.
    if (status < 300) return { ok: true, value: body as AnswerOf<Name>, etag }
    return { ok: false, failure: toFailure(status, body, retryAfter) }
  }
}

const UNREACHABLE: ApiFailure = {
  status: 0,
  code: 'unreachable',
  message: 'The platform cannot be reached.',
  details: [],
  retryAfterSeconds: null,
}

interface AnyRequest {
  readonly path?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly ifMatch?: string | null
}

/** What a parameter of a query may be. */
type Scalar = string | number | boolean

/** The HTTP request of a call. */
export function toHttp(name: OperationName, request: AnyRequest, token: string | null) {
  const { method, path } = OPERATIONS[name]
  const { body, ifMatch, query = {} } = request
  const parameters = request.path ?? {}
  const pathname = path.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(parameters[key] ?? ''),
  )
  const search = new URLSearchParams(
    (Object.entries(query) as [string, Scalar | undefined][]).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  ).toString()
  return {
    target: search ? `${pathname}?${search}` : pathname,
    init: {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  }
}

function toFailure(status: number, body: unknown, retryAfter: string | null): ApiFailure {
  const { code, details } = typeof body === 'object' && body !== null ? (body as Partial<ApiFailure>) : {}
  return {
    status,
    code: code ?? `status_${status}`,
    message: errorMessage(status, body),
    details: details ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter) || null,
  }
}
