import { PlatformError, type FieldFault, type PlatformErrorParts } from './errors.ts'
import type { Settings } from './options.ts'
import type { AnswerKind, PreparedCall } from './prepared-call.ts'
import { Watchdog } from './timing.ts'

/** A successful response. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The body, as the operation describes it. */
  readonly value: unknown
}

/** Sends a call once. Rejects with a {@link PlatformError}, or with the reason of the caller's signal. */
export async function exchange(call: PreparedCall, attempt: number, settings: Settings): Promise<Reply> {
  const headers = await requestHeaders(call, settings)
  const limit = new Watchdog(settings.timeoutMs)
  const fault = faultOf(call, attempt)
  try {
    const response = await open(call, headers, settings, limit.signal)
    if (!response.ok) throw fault(await refusalIn(response))
    return { status: response.status, headers: response.headers, value: await READERS[call.answer](response) }
  } catch (error) {
    call.signal?.throwIfAborted()
    if (error instanceof PlatformError) throw error
    throw fault(lostAnswer(error, limit, settings))
  } finally {
    limit.stop()
  }
}

type Fault = (parts: Omit<PlatformErrorParts, 'operation' | 'attempts' | 'requestId'>) => PlatformError

function faultOf({ operation, requestId }: PreparedCall, attempts: number): Fault {
  return (parts) => new PlatformError({ operation, requestId, attempts, ...parts })
}

/** The token may be another one for each attempt. */
async function requestHeaders(call: PreparedCall, { token }: Settings): Promise<Headers> {
  const headers = new Headers(call.headers)
  const bearer = await token()
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  return headers
}

function open(
  call: PreparedCall,
  headers: Headers,
  { url, fetch }: Settings,
  limit: AbortSignal,
): Promise<Response> {
  return fetch(`${url}${call.target}`, {
    method: call.method,
    headers,
    ...(call.body !== undefined && { body: call.body }),
    cache: 'no-store',
    redirect: 'manual',
    signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
  })
}

const READERS: Readonly<Record<AnswerKind, (response: Response) => unknown>> = {
  json: async (response) =>
    response.status === 204 ? undefined : (JSON.parse(await response.text()) as unknown),
  text: (response) => response.text(),
  // Read to its end, so that the connection can be used again.
  none: async (response) => void (await response.arrayBuffer()),
  // The caller reads them; the limit is for the head only.
  bytes: ({ body }) => body,
  events: ({ body }) => body,
}

interface ErrorBody {
  readonly code?: string
  readonly message?: string
  readonly details?: readonly FieldFault[]
}

const NOT_MODIFIED = 304

async function refusalIn(response: Response) {
  const { status, headers } = response
  if (status === NOT_MODIFIED)
    return { status, code: 'not_modified', message: 'The object still has the version of `If-None-Match`.' }
  const { code, message, details } = parseError(await response.text())
  return {
    status,
    code: code ?? `status_${status}`,
    message: message ?? `The platform answered with status ${status}.`,
    retryAfterSeconds: retryAfterIn(headers),
    ...(details && { details }),
    ...requestIdIn(headers),
  }
}

function requestIdIn(headers: Headers) {
  const requestId = headers.get('x-request-id')
  return requestId === null ? {} : { requestId }
}

/** Empty for what is not JSON, such as the page of a proxy in between. */
function parseError(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

/** RFC 9110, section 10.2.3: seconds, or a time, which is compared with that of the same server. */
function retryAfterIn(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.parse(headers.get('date') ?? '')) / 1_000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

function lostAnswer(cause: unknown, limit: Watchdog, { timeoutMs }: Settings) {
  if (limit.signal.aborted) {
    return { code: 'timeout', message: `The platform did not answer within ${timeoutMs} ms.`, cause }
  }
  // The type of what `JSON.parse` throws.
  if (cause instanceof SyntaxError) {
    return { code: 'invalid_response', message: 'The response is not the JSON that was expected.', cause }
  }
  return { code: 'unreachable', message: 'The platform cannot be reached, or the connection broke.', cause }
}
