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
