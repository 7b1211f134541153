import type { Identity } from '../../../kernel/identity.ts'
import type { Secret } from '../../../kernel/secret.ts'
import { traceHeaders } from '../../../kernel/trace.ts'
import { encodeIdentityToken, SIGNATURE_HEADER, TOKEN_HEADER } from '../../../kernel/identity-signature.ts'
import type { IdentitySignature } from '../../tokens/identity-signature.ts'

/** Names that begin like this, in letters and digits alone. */
const FAMILIES = ['forwarded', 'xenvoy', 'xforwarded', 'xoriginal', 'xremote', 'xrewrite']

/** Names of their own, in letters and digits alone. */
const NAMES = [
  'cdnloop',
  'cfconnectingip',
  'cfconnectingipv6',
  'clientip',
  'doconnectingip',
  'fastlyclientip',
  'flyclientip',
  'trueclientip',
  'via',
  'xappengineuserip',
  'xazureclientip',
  'xazuresocketip',
  'xclientip',
  'xclusterclientip',
  'xproxyuserip',
  'xrealip',
]

// One expression, because it is tried with every header of a request: between its letters there may be any separators.
const SEPARATORS = '[^a-z0-9]*'
const anyOf = (names: readonly string[]) => names.map((name) => [...name].join(SEPARATORS)).join('|')
const FORWARDING = new RegExp(
  `^${SEPARATORS}(?:(?:${anyOf(FAMILIES)})|(?:${anyOf(NAMES)})${SEPARATORS}$)`,
  'i',
)

/** Headers that nearly every request has, written as Node.js does: a look at this list is quicker than the expression. */
const COMMON = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'user-agent',
  'x-request-id',
  'x-user-id',
  'x-user-name',
  'x-user-roles',
])

/**
 * Whether a header says on whose behalf, or over which way, a proxy sends a request. A request with such a header did not
 * come from its peer itself, and only the gateway may send one to the api.
 */
export function isForwardingHeader(name: string): boolean {
  return !COMMON.has(name) && FORWARDING.test(name)
}

/**
 * A header's name without case and separators: `X_User-ID`, `x-user-id` and `X.User.Id` are one name to a server that
 * reads headers as variables (RFC 3875, section 4.1.18).
 */
export function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** On whose behalf the gateway sends a request. */
export interface Sender {
  /** Undefined only for operations that need no identity. */
  readonly identity: Identity | undefined
  readonly requestId: string
  /** The address of the client. Without a signature the api accepts no identity that comes with a forwarding header. */
  readonly address?: string
  /** Token of a sender that the api does not trust to name an identity. */
  readonly token?: Secret
}

/** Names of identity headers begin like this, in letters and digits alone. */
const IDENTITY_FAMILIES = ['xuser', 'remoteuser', 'xidentity']
/** What the gateway sets itself or has used up. */
const RESERVED = new Set([
  'authorization',
  'host',
  'proxyauthorization',
  'traceparent',
  'tracestate',
  'xrequestid',
])
/** Between two ends of one connection (RFC 9110, section 7.6.1). */
const ABOUT_CONNECTION = [
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const IS_ABOUT_CONNECTION: ReadonlySet<string> = new Set(ABOUT_CONNECTION)
const HOP_BY_HOP: ReadonlySet<string> = new Set([...ABOUT_CONNECTION, 'content-length'].map(lettersOf))

/**
 * The headers of a request to the api: the headers of the client, except for those that only the gateway may send, and the
 * gateway's own. The length of the body is left to the sender of the body.
 */
export function headersForApi(
  clientHeaders: Readonly<Record<string, string | string[] | undefined>>,
  { identity, requestId, address, token }: Sender,
  host: string,
  signature?: Pick<IdentitySignature, 'sign'>,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(clientHeaders)) {
    if (value !== undefined && mayPass(name)) headers[name] = value
  }
  headers['host'] = host
  headers['x-request-id'] = requestId
  Object.assign(headers, traceHeaders())
  if (address !== undefined && (signature || !identity)) headers['x-forwarded-for'] = address
  if (token) headers['authorization'] = `Bearer ${token.reveal()}`
  if (identity) Object.assign(headers, identityHeaders(identity))
  if (signature) headers[SIGNATURE_HEADER] = signature.sign(headers)
  return headers
}

/** The headers of an answer, with their names in lower case, that are not about the connection to the api. */
export function endToEndHeaders<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  const passed: Record<string, T> = {}
  for (const [name, value] of Object.entries(headers))
    if (!IS_ABOUT_CONNECTION.has(name)) passed[name] = value
  return passed
}

function mayPass(name: string): boolean {
  const letters = lettersOf(name)
  return (
    !RESERVED.has(letters) &&
    !HOP_BY_HOP.has(letters) &&
    !IDENTITY_FAMILIES.some((family) => letters.startsWith(family)) &&
    !isForwardingHeader(name)
  )
}

function identityHeaders({ id, name, roles, token }: Identity): Record<string, string> {
  const ofToken = token && { [TOKEN_HEADER]: encodeIdentityToken(token) }
  return { 'x-user-id': id, 'x-user-name': name, 'x-user-roles': roles.join(','), ...ofToken }
}
