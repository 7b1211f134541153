/** An answer of the API, or why there is none. */
export type CallResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly body: unknown
      readonly retryAfter: string | null
      readonly etag: string | null
    }
  | { readonly kind: 'unanswered' }

export type Fetch = (path: string, init: RequestInit) => Promise<Response>

const TIME_LIMIT_MS = 10_000

/** Calls the API at the origin of the page. Rejects only when the signal aborts. */
export async function callApi(
  fetch: Fetch,
  path: string,
  init: Omit<RequestInit, 'signal'>,
  signal?: AbortSignal,
): Promise<CallResult> {
  const limit = AbortSignal.timeout(TIME_LIMIT_MS)
  try {
    const response = await fetch(path, {
      ...init,
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    const { status, headers } = response
    return {
      kind: 'answered',
      status,
      body: parseJson(await response.text()),
      retryAfter: headers.get('retry-after'),
      etag: headers.get('etag'),
    }
  } catch (error) {
    if (signal?.aborted) throw error
    return { kind: 'unanswered' }
  }
}

/** Undefined for what isn't JSON, such as the page of a proxy in between. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The `message` of an error response; a text with the status if it has none. */
export function errorMessage(status: number, body: unknown): string {
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
    return body.message
  }
  return `The server answered with status ${status}.`
}
