import type { Compilable, Generated, Kysely } from 'kysely'
import { statement as untyped, type Statement } from '../../store/statement.ts'
import type { Queries } from '../../store/store.ts'
import type { AlertedPercent, AuditEventName } from './model.ts'

/** One run of a gateway: a program that is started again is another one. */
export interface VpnGatewaysTable {
  run_id: string
  name: string
  address: string
  heartbeat_ms: number
  started_at: number
  last_seen_at: number
  /** When it stopped in order, or another run of the same name took its place. */
  left_at: number | null
}

/** A pool that gateways lease from, by its CIDR. */
export interface VpnPoolsTable {
  cidr: string
  /** The lowest address that never had a lease. */
  next_address: number
  /** How full an alert has said that it is: 0, 80 or 95. */
  alerted_percent: AlertedPercent
}

/** An address that was handed out, or soon will be. */
export interface VpnLeasesTable {
  /** The four bytes as one number. */
  address: number
  /** Among whose free addresses it counts. */
  pool: string
  /** The live session that holds it. */
  session_id: string | null
  /** Who held it last, and gets it back; null where nothing is remembered. */
  user_id: string | null
  device: string | null
  /** 0 as long as nobody has had it. */
  released_at: number
}

export interface VpnSessionsTable {
  seq: Generated<number>
  id: string
  user_id: string
  user_name: string
  device: string | null
  /** The four bytes as one number. */
  address: number
  /** The gateway's name. */
  gateway: string
  run_id: string
  remote_address: string
  connected_at: number
  last_seen_at: number
  rtt_us: number | null
  closed_at: number | null
  close_code: number | null
  close_reason: string | null
  /** 1 while its gateway has not been told that somebody else has ended it, else null. */
  untold: number | null
}

export interface VpnAuditTable {
  seq: Generated<number>
  id: string
  at: number
  event: AuditEventName
  session_id: string | null
  user_id: string | null
  gateway: string
  remote_address: string | null
  reason: string | null
}

export interface VpnTables {
  vpn_audit: VpnAuditTable
  vpn_gateways: VpnGatewaysTable
  vpn_leases: VpnLeasesTable
  vpn_pools: VpnPoolsTable
  vpn_sessions: VpnSessionsTable
}

type Build<P, R> = (
  db: Kysely<VpnTables>,
  value: <K extends keyof P & string>(name: K) => P[K],
) => Compilable<R>

export function statement<P extends object, R = never>(build: Build<P, R>): Statement<P, R> {
  return untyped(build as never)
}

export function dbOf(queries: Queries): Kysely<VpnTables> {
  return queries.db
}
