import { callApi, type Fetch } from './call.ts'
import { toFailure, UNREACHABLE, type ApiFailure } from './operations.ts'

export type SignInRefusal =
  | { readonly code: 'wrong_credentials' | 'not_a_token' }
  | { readonly code: 'throttled'; readonly seconds: number }
  | { readonly code: 'other'; readonly failure: ApiFailure }

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly token: string }
  | { readonly kind: 'refused'; readonly refusal: SignInRefusal }

// When the platform does not say how long to wait.
const DEFAULT_PAUSE_SECONDS = 60

/** Changes a name and a password into a token. */
export async function signIn(fetch: Fetch, username: string, password: string): Promise<SignInResult> {
  const result = await callApi(fetch, '/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (result.kind === 'unanswered')
    return { kind: 'refused', refusal: { code: 'other', failure: UNREACHABLE } }
  const { status, body, retryAfter } = result
  const token = status === 200 ? tokenIn(body) : undefined
  return token
    ? { kind: 'signed_in', token }
    : { kind: 'refused', refusal: refusalOf(status, body, retryAfter) }
}

function tokenIn(body: unknown): string | undefined {
  const isToken = typeof body === 'object' && body !== null && 'access_token' in body
  return isToken && typeof body.access_token === 'string' ? body.access_token : undefined
}

function refusalOf(status: number, body: unknown, retryAfter: string | null): SignInRefusal {
  if (status === 401) return { code: 'wrong_credentials' }
  if (status === 429) return { code: 'throttled', seconds: Number(retryAfter) || DEFAULT_PAUSE_SECONDS }
  return { code: 'other', failure: toFailure(status, body, retryAfter) }
}
