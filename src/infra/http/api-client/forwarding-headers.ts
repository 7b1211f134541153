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
