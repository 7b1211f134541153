import type { FieldFault } from '../../clients/typescript/src/errors.ts'
import { OPERATIONS, type Operations } from '../../clients/typescript/src/generated.ts'
import type {
  AnswerOf,
  BodyOf,
  OperationName,
  QueryOf,
  RequestPart,
} from '../../clients/typescript/src/operations.ts'
import { targetOf, type TargetParameters } from '../../clients/typescript/src/target.ts'
import { callApi, errorMessage, type Fetch } from './call.ts'

export type { AnswerOf, BodyOf, FieldFault, OperationName, QueryOf }

/** Why a call failed. `code` is the API's, `unreachable` or `unexplained`. */
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

export type RequestOf<Name extends OperationName> = RequestPart<'path', Operations[Name]['path']> &
  RequestPart<'body', BodyOf<Name>> & {
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

/** The code of an answer that has none, such as the page of a proxy. */
export const UNEXPLAINED = 'unexplained'

export const UNREACHABLE: ApiFailure = {
  status: 0,
  code: 'unreachable',
  message: 'The platform cannot be reached.',
  details: [],
  retryAfterSeconds: null,
}

interface AnyRequest extends TargetParameters {
  readonly body?: unknown
  readonly ifMatch?: string | null
}

/** The HTTP request of a call. */
export function toHttp(name: OperationName, request: AnyRequest, token: string | null) {
  const { method, path } = OPERATIONS[name]
  const { body, ifMatch } = request
  return {
    target: targetOf(path, request),
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

/** Why an answer with this status and body is a failure. */
export function toFailure(status: number, body: unknown, retryAfter: string | null): ApiFailure {
  const { code, details } = typeof body === 'object' && body !== null ? (body as Partial<ApiFailure>) : {}
  return {
    status,
    code: code ?? UNEXPLAINED,
    message: errorMessage(status, body),
    details: details ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter) || null,
  }
}
