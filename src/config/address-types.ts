import { BlockList, isIPv4 } from 'node:net'
import { isPrivateHost, parsePostgresUrl } from '../kernel/addresses.ts'
import { REDACTED, Secret } from '../kernel/secret.ts'
import { parseList, parseListOrNone, resolvePath, valueType, type ValueType } from './value-types.ts'

/** Where a socket listens; port 0 lets the system choose. */
export interface ListenAddress {
  /** Without brackets, as `listen` takes it. */
  readonly host: string
  readonly port: number
}

const LISTEN_ADDRESS = /^(?<host>\[[^\]]+\]|[A-Za-z0-9.-]{1,253}):(?<port>\d{1,5})$/

export const listenAddress = valueType<ListenAddress>({
  name: 'host:port',
  expected: 'host:port such as 127.0.0.1:9600 or [::1]:9600, with port 0 for any that is free',
  parse(text) {
    const { host, port } = LISTEN_ADDRESS.exec(text)?.groups ?? {}
    // The URL parser refuses what looks like an IP address and is none, such as 127.0.0.256.
    if (host === undefined || !URL.canParse(`http://${text}`)) return undefined
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  },
  format: ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
})

function parseUrl(text: string, protocols: readonly string[]): URL | undefined {
  const url = URL.parse(text)
  return url && url.hostname !== '' && protocols.includes(url.protocol) ? url : undefined
}

const HTTP = ['http:', 'https:']

export const httpUrl = valueType({
  name: 'URL',
  expected: 'an http:// or https:// address without credentials, query or fragment',
  parse(text) {
    const url = parseUrl(text, HTTP)
    if (!url || url.username || url.password || url.search || url.hash) return undefined
    return url.href.replace(/(?<!\/)\/+$/, '')
  },
})

/** An https address; http is only for hosts that pass the check, which `host` describes. */
export function httpsUrl(host: string, isHttpAllowed: (hostname: string) => boolean): ValueType<string> {
  return valueType({
    name: 'URL',
    expected: `an https:// address, or an http:// address with ${host}, without credentials, query or fragment`,
    parse(text) {
      const address = httpUrl.parse(text, '')
      const { protocol, hostname } = new URL(address ?? 'http://invalid')
      return protocol === 'https:' || isHttpAllowed(hostname) ? address : undefined
    },
  })
}

/** The address of an api on another host, which is sent a token: without TLS only in a network that is not public. */
export const privateHttpUrl = httpsUrl('a loopback or private IP address', isPrivateHost)

export const secretHttpUrl = valueType({
  name: 'URL, secret',
  expected: 'an http:// or https:// address',
  parse: (text) => (parseUrl(text, HTTP) ? new Secret(text) : undefined),
})

/** A network, ready for `BlockList.addSubnet(address, prefixLength, family)`. */
export interface Cidr {
  /** In its usual form: `100.64.0.0/16`. */
  readonly text: string
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

export const cidrList = valueType<readonly Cidr[]>({
  name: 'list of networks',
  expected: 'a list of networks such as 127.0.0.0/8 or ::1/128, or none',
  toml: 'list',
  parse: (text) => parseListOrNone(text, parseCidr),
  format: (cidrs) => cidrs.map(({ text }) => text).join(',') || 'none',
})

/** Origins as browsers send them (RFC 6454, section 6.1). */
export const originList = valueType<readonly string[]>({
  name: 'list of origins',
  expected: 'a list of origins such as https://shop.example.org, without a path, or none',
  toml: 'list',
  parse: (text) => parseListOrNone(text, parseOrigin),
  format: (origins) => origins.join(',') || 'none',
})

function parseOrigin(text: string): string | undefined {
  return !text.includes('*') && parseUrl(text, HTTP)?.origin === text ? text : undefined
}

function parseCidr(text: string): Cidr | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = versionOf(address)
  const longest = version === 4 ? 32 : 128
  const prefixLength = Number(prefix ?? longest)
  if (version === 0 || prefixLength > longest) return undefined
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return { text: `${address}/${prefixLength}`, address, prefixLength, family }
}

/** Whether two networks have an address in common. */
export function overlap(one: Cidr, other: Cidr): boolean {
  return contains(one, other) || contains(other, one)
}

function contains({ address, prefixLength, family }: Cidr, inner: Cidr): boolean {
  const network = new BlockList()
  network.addSubnet(address, prefixLength, family)
  return network.check(inner.address, inner.family)
}

/** Does the same as `isIP` of `node:net`, whose pattern for IPv6 takes 7 ms to compile at every start. */
function versionOf(address: string): 0 | 4 | 6 {
  if (isIPv4(address)) return 4
  return address.includes(':') && URL.canParse(`http://[${address}]`) ? 6 : 0
}

// A smaller pool has no address left beside network, broadcast and gateway; no private network is larger than 10.0.0.0/8.
const POOL_PREFIX = { longest: 30, shortest: 8 }

export const ipPool = valueType<Cidr>({
  name: 'IPv4 network',
  expected: `an IPv4 network such as 100.64.0.0/16, from /${POOL_PREFIX.longest} to /${POOL_PREFIX.shortest}, named by its first address`,
  parse(text) {
    const cidr = parseCidr(text)
    return cidr?.family === 'ipv4' && isPool(cidr) ? cidr : undefined
  },
  format: ({ text }) => text,
})

function isPool({ address, prefixLength }: Cidr): boolean {
  const number = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  const { longest, shortest } = POOL_PREFIX
  return prefixLength <= longest && prefixLength >= shortest && number % 2 ** (32 - prefixLength) === 0
}

/** The database that holds everything. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

// `postgres//host/shop`, `me@host/shop`, a space at the end: SQLite would make a file of that name, which is empty.
const MISTYPED_URL = /^[^/.][^/]*(?:\/\/|@)|^\s|\s$/

export const databaseLocation = valueType<DatabaseLocation>({
  name: 'URL or path',
  expected:
    'postgres://host,host/… with target_session_attrs read-write or any, or the path of a SQLite file, with or without sqlite: before it',
  parse(text, cwd) {
    if (/^postgres(ql)?:/.test(text)) return parsePostgres(text)
    const file = text.replace(/^sqlite:(?:\/\/)?/, '')
    if (file === text && MISTYPED_URL.test(text)) return undefined
    // Other processes would not see a database in memory, and a restart would lose it.
    if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(file) || file.startsWith(':memory:')) return undefined
    const path = resolvePath(file, cwd)
    return path === undefined ? undefined : { kind: 'sqlite', path }
  },
  format: (location) => (location.kind === 'sqlite' ? location.path : formatPostgres(location.url)),
})

function parsePostgres(text: string): DatabaseLocation | undefined {
  // The host may be empty: the query can name the directory of a socket.
  return parsePostgresUrl(text) ? { kind: 'postgres', url: new Secret(text) } : undefined
}

function formatPostgres(secretUrl: Secret): string {
  const urls = (parsePostgresUrl(secretUrl.reveal())?.urls ?? []).map((url) => new URL(url))
  const [{ protocol, username, password, pathname, search } = new URL('postgres://')] = urls
  const login = username || password ? `${secretUrl}@` : ''
  const hosts = urls.map(({ host }) => host).join(',')
  return `${protocol}//${login}${hosts}${pathname}${search ? `?${secretUrl}` : ''}`
}

/** The servers of the bus. Their addresses may carry logins. */
export interface BusServers {
  /** `nats://…` or `tls://…` with `host:port`, in the order of the attempts. */
  readonly urls: Secret<readonly string[]>
  /** The same for people: without logins. */
  readonly text: string
}

export const busServers = valueType<BusServers>({
  name: 'list of URLs',
  expected: 'a list of nats://host:port or tls://host:port',
  toml: 'list',
  parse(text) {
    const urls = parseList(text, parseBusUrl)
    if (!urls) return undefined
    const addresses = urls.map(({ protocol, username, password, host }) => {
      const login = password ? `${username}:${password}` : username
      return login === '' ? `${protocol}//${host}` : `${protocol}//${login}@${host}`
    })
    return { urls: new Secret(addresses), text: urls.map(withRedactedLogin).join(',') }
  },
  format: ({ text }) => text,
})

function withRedactedLogin({ protocol, username, password, host }: URL): string {
  return `${protocol}//${username || password ? `${REDACTED}@` : ''}${host}`
}

const NATS_PORT = '4222'

function parseBusUrl(text: string): URL | undefined {
  const url = parseUrl(text.includes('://') ? text : `nats://${text}`, ['nats:', 'tls:'])
  if (!url || url.search || url.hash || !['', '/'].includes(url.pathname)) return undefined
  if (url.port === '') url.port = NATS_PORT
  return url
}
