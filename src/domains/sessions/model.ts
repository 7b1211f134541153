import type { SentenceCause } from '../../kernel/errors.ts'
import { END_REASONS } from '../../ports/session-registry.ts'

export interface Session {
  readonly id: string
  readonly userId: string
  readonly userName: string
  /** Null for a session whose address is not kept for the next one. */
  readonly device: string | null
  /** The four bytes of the virtual address as one number. */
  readonly address: number
  /** The name of the gateway. */
  readonly gateway: string
  /** The run of the gateway. */
  readonly runId: string
  readonly remoteAddress: string
  /** All times are epoch milliseconds, UTC. */
  readonly connectedAt: number
  readonly lastSeenAt: number
  /** Round-trip time of the last answered heartbeat, in microseconds; null before the first. */
  readonly rttUs: number | null
  /** Null while the session is live. */
  readonly closedAt: number | null
  readonly closeCode: number | null
}

export const SESSION_STATES = ['open', 'closed'] as const
export type SessionState = (typeof SESSION_STATES)[number]

export const AUDIT_EVENTS = ['session_registered', 'session_closed', 'auth_failed'] as const
export type AuditEventName = (typeof AUDIT_EVENTS)[number]

/** One entry of the audit trail (docs/specification.md, Gateway). */
export interface AuditEntry {
  readonly id: string
  readonly at: number
  readonly event: AuditEventName
  /** Null for `auth_failed`. */
  readonly sessionId: string | null
  /** Null when no user is known. */
  readonly userId: string | null
  readonly userName: string | null
  readonly device: string | null
  /** Dotted IPv4; null for `auth_failed`. */
  readonly virtualIp: string | null
  readonly gateway: string
  /** Null for an entry that stands for many addresses. */
  readonly remoteAddress: string | null
  readonly reason: string | null
  /** The cause of the reason, unless a client or a library has written it. */
  readonly cause: SentenceCause<AuditCode> | null
}

/** Close codes that are decided here; the transport has others. */
export const END_CODES = { goingAway: 1001, tokenEnded: 4401, byOperator: 4403, replaced: 4409 } as const

/** A gateway, as its last run has described it. */
export interface GatewayRecord {
  readonly name: string
  readonly address: string
  readonly heartbeatMs: number
  readonly lastSeenAt: number
  /** It has not stopped and was not found dead. */
  readonly alive: boolean
}

/** The tunnels of all gateways at one moment. */
export interface Tunnels {
  /** Epoch milliseconds. */
  readonly at: number
  readonly gateways: readonly GatewayRecord[]
  /** The newest ones; there may be more. */
  readonly sessions: readonly Session[]
  /** The number of live sessions. */
  readonly total: number
  /** How full the address pool is, as JSON; left out where it is not asked for. */
  readonly pool?: unknown
}

const MAX_PHRASE_LENGTH = 200

/** A phrase that a peer has chosen, cut, and without characters that a database refuses. */
export function cleanPhrase(phrase: string): string {
  return phrase.toWellFormed().replaceAll('\0', '').slice(0, MAX_PHRASE_LENGTH).toWellFormed()
}

/** The audit trail on the bus (docs/specification.md, Events). */
export const SESSION_EVENTS = {
  session_registered: 'vpn.audit.session_registered',
  session_closed: 'vpn.audit.session_closed',
  auth_failed: 'vpn.audit.auth_failed',
} as const satisfies Record<AuditEventName, string>

/** `many_refusals`: an entry that stands for refusals from many addresses. */
export const AUDIT_CODES = [
  ...(Object.keys(END_REASONS) as (keyof typeof END_REASONS)[]),
  'many_refusals',
] as const
/** The code of a reason in the audit trail. */
export type AuditCode = (typeof AUDIT_CODES)[number]

const CODES = new Map<string, AuditCode>(
  AUDIT_CODES.flatMap((code) => (code === 'many_refusals' ? [] : [[END_REASONS[code], code]])),
)

/** The code of a reason; undefined for one of a client or a library. */
export function auditCodeOf(reason: string): AuditCode | undefined {
  return CODES.get(reason)
}
