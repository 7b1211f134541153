/** The four bytes of a dotted IPv4 address as one number; undefined for any other text. */
export function parseIpv4(dotted: string): number | undefined {
  const bytes = dotted.split('.')
  if (bytes.length !== 4 || !bytes.every(isByte)) return undefined
  return bytes.reduce((sum, byte) => sum * 256 + Number(byte), 0)
}

/** Dotted: `100.64.0.2`. */
export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

function isByte(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= 255
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|(?:[a-z0-9-]+\.)*localhost)\.?$/i

/** Whether the host of a URL (`url.hostname`) is this machine: 127.0.0.0/8, `::1`, or a name below `localhost` (RFC 6761). */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}

// RFC 1918, RFC 6598, RFC 3927, RFC 4193 and RFC 4291
const PRIVATE_IPV4 =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.)[\d.]+$/
const PRIVATE_IPV6 = /^\[(?:f[cd]|fe[89ab])[0-9a-f:]*\]$/i

/** Whether the host of a URL (`url.hostname`) is this machine, or an IP address that is not routed on the internet. */
export function isPrivateHost(hostname: string): boolean {
  return isLoopbackHost(hostname) || PRIVATE_IPV4.test(hostname) || PRIVATE_IPV6.test(hostname)
}

const DOTTED_END = /(?:\d{1,3}\.){3}\d{1,3}$/
const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/**
 * The key of a limit per client: an IPv4 address itself, but the /64 of an IPv6 address, because one client can use every
 * address of its /64 (RFC 4291, section 2.5.4).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.replace(DOTTED_END, '0:0').split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array<string>(Math.max(0, IPV6_GROUPS - left.length - right.length)).fill('0')
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}

/** Which of several servers a process uses: any that answers, or one that takes changes. */
export type ServerRole = 'any' | 'read-write'

/** A connection URI of PostgreSQL, taken apart by its hosts. */
export interface PostgresUrl {
  /** One URI for each host, in their order, with the same login, database and parameters. */
  readonly urls: readonly string[]
  readonly role: ServerRole
  /** Whether the hosts are PgBouncer, whose connections change between two transactions. */
  readonly pgbouncer: boolean
}

const URL_PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^?#]*)(?<query>\?[^#]*)?(?:#.*)?$/
const OWN_PARAMETERS = /^(?:target_session_attrs|pgbouncer)=/
const ROLES: Readonly<Record<string, ServerRole>> = {
  any: 'any',
  'read-write': 'read-write',
  primary: 'read-write',
}
const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false }

/**
 * Reads `postgres://login@host1:port,host2:port/database?parameters`, which libpq describes under "Specifying Multiple
 * Hosts" (PostgreSQL 15, section 34.1.1). Of several hosts the program uses the one that takes changes, unless
 * `target_session_attrs` is `any`. `pgbouncer=true` says that the hosts are PgBouncer. Undefined for another text.
 */
export function parsePostgresUrl(text: string): PostgresUrl | undefined {
  const { scheme = '', login, hosts = '', path = '', query = '' } = URL_PARTS.exec(text)?.groups ?? {}
  const list = hosts.split(',')
  const parameters = new URLSearchParams(query)
  const role = ROLES[parameters.get('target_session_attrs') ?? (list.length > 1 ? 'read-write' : 'any')]
  const pgbouncer = FLAGS[parameters.get('pgbouncer') ?? 'false']
  if (list.length > 1 && (list.includes('') || parameters.has('host'))) return undefined
  const rest = `${path}${withoutOwnParameters(query)}`
  const urls = list.map((host) => `${scheme}${login === undefined ? '' : `${login}@`}${host}${rest}`)
  if (scheme === '' || !role || pgbouncer === undefined) return undefined
  return urls.every((url) => URL.canParse(url)) ? { urls, role, pgbouncer } : undefined
}

/** The other parameters stay as they are written. */
function withoutOwnParameters(query: string): string {
  const others = query
    .slice(1)
    .split('&')
    .filter((parameter) => !OWN_PARAMETERS.test(parameter))
  return others.join('') === '' ? '' : `?${others.join('&')}`
}
