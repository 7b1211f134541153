import type { Identity } from '../../kernel/identity.ts'

/** On whose behalf the api is asked, as the gateway has found out. */
export interface Sender {
  /** Undefined only for the operations that nobody needs to be known for. */
  readonly identity: Identity | undefined
  readonly requestId: string
  /** Told only where the sender is not known: the api believes no identity that comes through a proxy. */
  readonly address?: string
}

/** Says who is calling, or where a request comes from: the gateway's to say, whatever else begins like it. */
const RESERVED_FAMILIES = [
  'xuser',
  'xforwarded',
  'forwarded',
  'xoriginal',
  'xrewrite',
  'remoteuser',
  'xremote',
]
const RESERVED = new Set([
  'authorization',
  'cfconnectingip',
  'clientip',
  'fastlyclientip',
  'host',
  'proxyauthorization',
  'trueclientip',
  'via',
  'xclientip',
  'xclusterclientip',
  'xrealip',
  'xrequestid',
])
/** Between two ends of one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'contentlength',
  'expect',
  'http2settings',
  'keepalive',
  'proxyauthenticate',
  'proxyconnection',
  'te',
  'trailer',
  'transferencoding',
  'upgrade',
])

/**
 * The headers of a request to the api: what was given, without what the gateway alone may say, and what it says. How
 * long the body is, is left to whoever sends it.
 */
export function headersForApi(
  given: Readonly<Record<string, string | string[] | undefined>>,
  { identity, requestId, address }: Sender,
  host: string,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && mayPass(name)) headers[name] = value
  }
  headers['host'] = host
  headers['x-request-id'] = requestId
  if (address !== undefined) headers['x-forwarded-for'] = address
  return identity ? Object.assign(headers, identityHeaders(identity)) : headers
}

/** The headers of an answer that mean something beyond the connection to the api. */
export function endToEndHeaders<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-length' || !HOP_BY_HOP.has(lettersOf(name))),
  )
}

function mayPass(name: string): boolean {
  const letters = lettersOf(name)
  return (
    !RESERVED.has(letters) &&
    !HOP_BY_HOP.has(letters) &&
    !RESERVED_FAMILIES.some((family) => letters.startsWith(family))
  )
}

/** `X_User-ID`, `x-user-id` and `X.User.Id` are one name to somebody who reads headers as variables. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function identityHeaders({ id, name, roles }: Identity): Record<string, string> {
  return { 'x-user-id': id, 'x-user-name': name, 'x-user-roles': roles.join(',') }
}
