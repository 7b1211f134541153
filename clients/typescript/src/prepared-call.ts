import { OPERATIONS } from './generated.ts'
import type { OperationName } from './operations.ts'
import { targetOf, type TargetParameters } from './target.ts'

const REQUEST_ID = 'x-request-id'
const IDEMPOTENCY_KEY = 'idempotency-key'
const TOKEN_BYTES = 16

/** The request of any operation. */
export interface AnyRequest extends TargetParameters {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** How the body of a response is read. */
export type AnswerKind = (typeof OPERATIONS)[OperationName]['answer']

/** A call with what stays the same over its attempts. */
export interface PreparedCall {
  readonly operation: OperationName
  readonly method: string
  readonly target: string
  /** With the request id, and with the key of a call that takes one. */
  readonly headers: Headers
  readonly requestId: string
  readonly body: string | undefined
  readonly answer: AnswerKind
  /** Whether the same request may be sent again. */
  readonly isRepeatable: boolean
  readonly signal: AbortSignal | undefined
}

export function prepareCall(
  operation: OperationName,
  request: AnyRequest,
  defaults: Readonly<Record<string, string>>,
): PreparedCall {
  const { method, path, answer, isKeyed, isRepeatable } = OPERATIONS[operation]
  const { body, signal } = request
  const headers = headersOf(defaults, request)
  if (isKeyed && !headers.has(IDEMPOTENCY_KEY)) headers.set(IDEMPOTENCY_KEY, randomToken())
  if (!headers.has(REQUEST_ID)) headers.set(REQUEST_ID, randomToken())
  return {
    operation,
    method,
    target: targetOf(path, request),
    headers,
    requestId: headers.get(REQUEST_ID) ?? '',
    body: body === undefined ? undefined : JSON.stringify(body),
    answer,
    isRepeatable,
    signal,
  }
}

function headersOf(defaults: Readonly<Record<string, string>>, { headers = {}, body }: AnyRequest): Headers {
  const all = new Headers(defaults)
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value)
  if (body !== undefined) all.set('content-type', 'application/json')
  return all
}

// `crypto.randomUUID` is missing in browsers on a page without TLS.
function randomToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
