import { Secret } from '../kernel/secret.ts'
import { parseUrl } from './address-types.ts'
import { listType, parseEach, resolvePath, textType } from './value-types.ts'
import type { ValueType } from './value-types.ts'

/** The database that holds everything. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

export const databaseLocation: ValueType<DatabaseLocation> = textType({
  name: 'URL or path',
  expected: 'postgres://… or the path of a SQLite file, which may follow sqlite:',
  parse: parseDatabaseLocation,
  format: (location) => (location.kind === 'sqlite' ? location.path : formatPostgres(location.url)),
})

const POSTGRES = ['postgres:', 'postgresql:']
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

function parseDatabaseLocation(text: string, cwd: string): DatabaseLocation | undefined {
  if (POSTGRES.some((scheme) => text.startsWith(scheme))) return parsePostgres(text)
  const file = text.replace(/^sqlite:(?:\/\/)?/, '')
  // A database in memory would not be shared with other processes, nor be there after a restart.
  if (SCHEME.test(file) || file.startsWith(':memory:')) return undefined
  const path = resolvePath(file, cwd)
  return path === undefined ? undefined : { kind: 'sqlite', path }
}

function parsePostgres(text: string): DatabaseLocation | undefined {
  // An empty host is allowed: the query may name a socket directory.
  const url = URL.parse(text)
  return url && text.includes('://') ? { kind: 'postgres', url: new Secret(text) } : undefined
}

function formatPostgres(secretUrl: Secret): string {
  const url = URL.parse(secretUrl.reveal())
  if (!url) return String(secretUrl)
  const login = url.username || url.password ? `${secretUrl}@` : ''
  return `${url.protocol}//${login}${url.host}${url.pathname}${url.search ? `?${secretUrl}` : ''}`
}

/** The bus's servers. Their addresses may carry logins, so they are shown only without them. */
export interface BusServers {
  /** `nats://…` or `tls://…` with `host:port`, in the order in which they are tried. */
  readonly urls: Secret<readonly string[]>
  /** The same for people: without logins. */
  readonly text: string
}

export const busServers: ValueType<BusServers> = listType({
  name: 'list of URLs',
  expected: 'a list of nats://host:port or tls://host:port',
  parse: parseBusServers,
  format: ({ text }) => text,
})

function parseBusServers(items: readonly string[]): BusServers | undefined {
  const urls = parseEach(items, parseBusUrl)
  if (!urls || urls.length === 0) return undefined
  return {
    urls: new Secret(urls.map((url) => `${url.protocol}//${loginOf(url)}${url.host}`)),
    text: urls
      .map((url) => `${url.protocol}//${loginOf(url) ? `${new Secret('')}@` : ''}${url.host}`)
      .join(','),
  }
}

function loginOf({ username, password }: URL): string {
  if (!username && !password) return ''
  return password ? `${username}:${password}@` : `${username}@`
}

const NATS_PORT = '4222'

function parseBusUrl(text: string): URL | undefined {
  const url = parseUrl(text.includes('://') ? text : `nats://${text}`, ['nats:', 'tls:'])
  if (!url || url.search || url.hash || !['', '/'].includes(url.pathname)) return undefined
  if (url.port === '') url.port = NATS_PORT
  return url
}
