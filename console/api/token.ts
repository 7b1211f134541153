/** The user whom a token names. Only for display: the console cannot check the signature. */
export interface Bearer {
  /** Empty if the token does not say. */
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
  /** Whether an OpenID provider has signed the bearer in. */
  readonly isByProvider?: boolean
}

/** A token that can't be read has a bearer without a name. */
export function readBearer(token: string): Bearer {
  const claims = claimsOf(token)
  const id = claims['sub']
  const name = claims['name'] ?? id
  const { roles, amr: methods } = claims
  return {
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    ...(Array.isArray(methods) && methods.includes('oidc') && { isByProvider: true }),
  }
}

export interface TokenLifetime {
  /** Epoch milliseconds. */
  readonly issuedAt: number
  readonly expiresAt: number
}

const SECOND_MS = 1_000

/** When a token was issued and when it ends (RFC 7519, `iat` and `exp`); null if it does not say. */
export function readLifetime(token: string): TokenLifetime | null {
  const { iat, exp } = claimsOf(token)
  if (typeof iat !== 'number' || typeof exp !== 'number') return null
  return { issuedAt: iat * SECOND_MS, expiresAt: exp * SECOND_MS }
}

const EARLIEST_WARNING_MS = 5 * 60 * SECOND_MS
// The warning appears in this last part of a short lifetime.
const WARNED_SHARE = 0.25

/** The time of the warning before the token ends: five minutes before, or the last quarter of a shorter lifetime. */
export function warningTime({ issuedAt, expiresAt }: TokenLifetime): number {
  return expiresAt - Math.min(EARLIEST_WARNING_MS, (expiresAt - issuedAt) * WARNED_SHARE)
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const bytes = Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch {
    return {}
  }
}

/** `Bearer abc` and line breaks of a file are what people copy along. */
export function cleanToken(pasted: string): string {
  return pasted
    .trim()
    .replace(/^bearer\s+/i, '')
    .replace(/\s+/g, '')
}

/** Whether an HTTP header can carry the text as a token. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/=-]+$/.test(text)
}
