import type { IdentityToken } from './identity.ts'
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The header of the signature; removed from the requests of clients. */
export const SIGNATURE_HEADER = 'x-identity-signature'

/** The header in which a gateway names the token of an identity; removed from the requests of clients. */
export const TOKEN_HEADER = 'x-identity-token'

const TOKEN = /^(?<kind>session|api) (?<expiresAt>\d{1,16}) (?<id>[\x21-\x7e]{1,128})$/

/** The value of {@link TOKEN_HEADER}. */
export function encodeIdentityToken({ kind, id, expiresAt }: IdentityToken): string {
  return `${kind} ${expiresAt} ${id}`
}

/** The token that a text names; undefined for another text. */
export function decodeIdentityToken(text: string): IdentityToken | undefined {
  const { kind, id, expiresAt } = TOKEN.exec(text)?.groups ?? {}
  return id === undefined
    ? undefined
    : { kind: kind as IdentityToken['kind'], id, expiresAt: Number(expiresAt) }
}

/** What is signed: whom the request is for, and where it comes from. */
const SIGNED_HEADERS = [
  'x-user-id',
  'x-user-name',
  'x-user-roles',
  TOKEN_HEADER,
  'x-forwarded-for',
  'x-request-id',
] as const

const FORMAT = /^t=(?<at>\d{1,12}),(?<version>v1|v2)=(?<mac>[A-Za-z0-9_-]{43})$/
const KEY_BYTES = 32
const MS_PER_SECOND = 1_000
// Two hosts may differ by some seconds, and a request may wait before it is sent.
const TOLERANCE_MS = 60 * MS_PER_SECOND

/** The part of a request that a signature may cover. Names of headers are in lower case. */
export interface SignedRequest {
  readonly method?: string | undefined
  /** The request target: path and query. */
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/**
 * `v1`: of a gateway, whose path a proxy may rewrite. `v2`: of a tool, for one method and target, because whoever answers at
 * its address gets the signature.
 */
type Version = 'v1' | 'v2'

/** The key that signs identities, from the key of the tokens, which signs nothing else (RFC 5869). */
export function identityKeyOf(tokenKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', tokenKey, '', 'platform identity headers', KEY_BYTES))
}

/** The value of {@link SIGNATURE_HEADER} for the identity in these headers. */
export function signHeaders(key: Buffer, now: number, headers: SignedRequest['headers']): string {
  return signature(key, now, 'v1', { headers })
}

/** The value of {@link SIGNATURE_HEADER} for one request of a tool. */
export function signRequest(key: Buffer, now: number, request: SignedRequest): string {
  return signature(key, now, 'v2', request)
}

/** Whether one of the keys has signed the request within the last minute. */
export function isSigned(keys: readonly Buffer[], now: number, request: SignedRequest): boolean {
  const header = request.headers[SIGNATURE_HEADER]
  if (typeof header !== 'string') return false
  const { at, version, mac } = FORMAT.exec(header)?.groups ?? {}
  if (at === undefined || mac === undefined) return false
  if (Math.abs(now - Number(at) * MS_PER_SECOND) > TOLERANCE_MS) return false
  const signedMac = Buffer.from(mac, 'base64url')
  return keys.some((key) => timingSafeEqual(macOf(key, Number(at), version as Version, request), signedMac))
}

function signature(key: Buffer, now: number, version: Version, request: SignedRequest): string {
  const at = Math.floor(now / MS_PER_SECOND)
  return `t=${at},${version}=${macOf(key, at, version, request).toString('base64url')}`
}

function macOf(key: Buffer, at: number, version: Version, { method, url, headers }: SignedRequest): Buffer {
  const values = SIGNED_HEADERS.map((name) => headers[name] ?? null)
  const parts = version === 'v1' ? [at, ...values] : ['v2', at, method ?? null, url ?? null, ...values]
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest()
}
