import { Client, type ClientConfig } from 'pg'
import { errorMessage } from '../../kernel/errors.ts'
import { parsePostgresUrl, type ServerRole } from '../../kernel/addresses.ts'
import type { Secret } from '../../kernel/secret.ts'
import { SECOND } from '../../kernel/time.ts'
import { serverName, TrackedSockets } from './postgres-server.ts'

/** What a server answers about itself. */
export interface ServerState {
  readonly writable: boolean
  /** Grows with each promotion, so of two servers that take changes the one with the higher number is the primary. */
  readonly timeline: number
}

// `platform data restore` counts the connections with the name `platform`.
const PROBE_NAME = 'platform-probe'

// The first eight digits of the name of a WAL file are its timeline, in hexadecimal. A standby writes none.
const STATE = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`

export interface ProbeOptions {
  readonly withinMs: number
  readonly signal: AbortSignal
}

/** Asks a server on a connection of its own. Rejects when it does not answer in time. */
export async function readServerState(
  url: string,
  settings: ClientConfig,
  { withinMs, signal }: ProbeOptions,
): Promise<ServerState> {
  const sockets = new TrackedSockets()
  const stop = () => sockets.destroy()
  signal.addEventListener('abort', stop)
  const own = { connectionTimeoutMillis: withinMs, query_timeout: withinMs, application_name: PROBE_NAME }
  const client = new Client({ ...settings, ...own, connectionString: url, stream: sockets.create })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ writable: boolean; timeline: string }>(STATE)
    return {
      writable: rows[0]?.writable === true,
      timeline: Number.parseInt(rows[0]?.timeline || '0', 16),
    }
  } finally {
    // A server that hangs would not answer the end of the connection either.
    stop()
    signal.removeEventListener('abort', stop)
  }
}

/** What one server of the list in `database.url` is now. */
export interface ServerFacts {
  /** `host:port`. */
  readonly name: string
  /** A former primary takes changes, too, but another server was promoted after it. */
  readonly role: 'primary' | 'former primary' | 'standby' | 'read-only' | 'unreachable'
  /** Why it is unreachable. */
  readonly reason?: string
}

const FACTS_MS = 5 * SECOND

/** Asks each server what it is; nothing for an address with one host. */
export async function readServers(url: Secret): Promise<readonly ServerFacts[]> {
  const { urls = [] } = parsePostgresUrl(url.reveal()) ?? {}
  if (urls.length < 2) return []
  const limit = { withinMs: FACTS_MS, signal: new AbortController().signal }
  const answers = await Promise.allSettled(urls.map((each) => readServerState(each, {}, limit)))
  const states = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const primary = chooseServer(states, 'read-write')
  return answers.map((answer, index) => {
    const name = serverName(urls[index] ?? '')
    if (answer.status === 'fulfilled') return { name, role: roleOf(answer.value, index === primary) }
    return { name, role: 'unreachable', reason: errorMessage(answer.reason) }
  })
}

function roleOf({ writable, timeline }: ServerState, isPrimary: boolean): ServerFacts['role'] {
  if (writable) return isPrimary ? 'primary' : 'former primary'
  return timeline === 0 ? 'standby' : 'read-only'
}

/** The state of each server that has answered, in the order of the configuration. */
export type ServerStates = readonly (ServerState | undefined)[]

/**
 * The index of the server to use, or undefined. Of several that take changes it is the one that was promoted last, and
 * of equal ones `current`, or else the first.
 */
export function chooseServer(states: ServerStates, role: ServerRole, current?: number): number | undefined {
  const isUsable = (state: ServerState | undefined) => state && (role === 'any' || state.writable)
  const usable = states.flatMap((state, index) => (isUsable(state) ? [index] : []))
  const rank = (index: number) => (role === 'any' ? 0 : (states[index]?.timeline ?? 0))
  const highest = Math.max(...usable.map(rank))
  const best = usable.filter((index) => rank(index) === highest)
  return best.find((index) => index === current) ?? best[0]
}
