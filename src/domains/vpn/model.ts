export interface Session {
  readonly id: string
  readonly user: { readonly id: string; readonly name: string }
  /** Null for a session of which nothing is remembered. */
  readonly device: string | null
  /** Dotted IPv4. */
  readonly virtualIp: string
  /** The gateway's name. */
  readonly gateway: string
  readonly remoteAddress: string
  /** All times are epoch milliseconds, UTC. */
  readonly connectedAt: number
  readonly lastSeenAt: number
  /** Round-trip time of the last heartbeat; null until one was answered. */
  readonly rttMs: number | null
  /** Null while it lives. */
  readonly closedAt: number | null
  readonly closeCode: number | null
}

export const SESSION_STATES = ['open', 'closed'] as const
export type SessionState = (typeof SESSION_STATES)[number]

export const AUDIT_EVENTS = ['session_registered', 'session_closed', 'auth_failed'] as const
export type AuditEventName = (typeof AUDIT_EVENTS)[number]

/** One line of the audit trail (docs/specification.md, Gateway). */
export interface AuditEntry {
  readonly id: string
  readonly at: number
  readonly event: AuditEventName
  /** Null for `auth_failed`. */
  readonly sessionId: string | null
  /** Null when nobody is known who could have been meant. */
  readonly userId: string | null
  readonly gateway: string
  /** Null for a line that stands for many addresses. */
  readonly remoteAddress: string | null
  readonly reason: string | null
}

/** Close codes of ends that are decided here; those of the connection itself are the transport's. */
export const CLOSE = { goingAway: 1001, tokenEnded: 4401, byOperator: 4403, replaced: 4409 } as const

export interface PoolUsage {
  readonly cidr: string
  /** Addresses that can be handed out. */
  readonly size: number
  /** Held by live sessions. */
  readonly used: number
  /** Released, and not yet for everybody. */
  readonly cooling: number
  readonly free: number
}

/** A gateway as the last of its runs says. */
export interface Gateway {
  readonly name: string
  readonly address: string
  readonly heartbeatMs: number
  readonly lastSeenAt: number
  /** It has not left, and nobody who watches it has seen it silent for three of its intervals. */
  readonly alive: boolean
}

/** The tunnels of all gateways at one moment. */
export interface Tunnels {
  /** Epoch milliseconds. */
  readonly at: number
  readonly gateways: readonly Gateway[]
  /** The newest ones; there may be more. */
  readonly sessions: readonly Session[]
  /** How many live sessions there are in all. */
  readonly total: number
  readonly pool: PoolUsage
}

/** A gateway that was silent for so many of its heartbeat intervals is dead (docs/specification.md, Gateway). */
export const INTERVALS_UNTIL_DEAD = 3

/** How full the pool is when an alert says so, the fullest first. */
export const POOL_ALERTS = [
  { percent: 95, severity: 'HIGH' },
  { percent: 80, severity: 'WARNING' },
] as const
const RECOVERED_BELOW_PERCENT = 70

/** How full an alert says that a pool is; 0 when none does. */
export type AlertedPercent = 0 | (typeof POOL_ALERTS)[number]['percent']

/** What the alert says after a look at the pool: it rises at once, and falls only when the pool has recovered. */
export function alertedAfter(
  before: AlertedPercent,
  { used, size }: Pick<PoolUsage, 'used' | 'size'>,
): AlertedPercent {
  const percent = (used / size) * 100
  if (percent < RECOVERED_BELOW_PERCENT) return 0
  const reached = POOL_ALERTS.find((alert) => percent >= alert.percent)?.percent ?? 0
  return reached > before ? reached : before
}

const PHRASE_LENGTH = 200

/** A phrase of a peer's own choice, fit for every database. */
export function presentable(phrase: string): string {
  return phrase.toWellFormed().replaceAll('\0', '').slice(0, PHRASE_LENGTH).toWellFormed()
}
