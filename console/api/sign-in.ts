import { callApi, errorMessage, type Fetch } from './call.ts'

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly token: string }
  | { readonly kind: 'refused'; readonly message: string }

/** Changes a name and a password into a token. */
export async function signIn(fetch: Fetch, username: string, password: string): Promise<SignInResult> {
  const result = await callApi(fetch, '/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (result.kind === 'unanswered') return { kind: 'refused', message: result.reason }
  const { status, body, retryAfter } = result
  const token = status === 200 ? tokenIn(body) : undefined
  return token
    ? { kind: 'signed_in', token }
    : { kind: 'refused', message: refusal(status, body, retryAfter) }
}

function tokenIn(body: unknown): string | undefined {
  const isToken = typeof body === 'object' && body !== null && 'access_token' in body
  return isToken && typeof body.access_token === 'string' ? body.access_token : undefined
}

function refusal(status: number, body: unknown, retryAfter: string | null): string {
  if (status === 401) return 'Name or password is wrong.'
  if (status === 429) return `Too many attempts. Try again in ${Number(retryAfter) || 60} seconds.`
  return errorMessage(status, body)
}
