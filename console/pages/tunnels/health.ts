import { formatDuration } from '../../parts/format.ts'
import type { Gateway, Session, TunnelState } from './tunnel-state.ts'

/** How well a session does, best first. */
export const HEALTHS = ['fast', 'fair', 'slow', 'measuring', 'silent'] as const

export type Health = (typeof HEALTHS)[number]

export interface HealthWords {
  readonly label: string
  readonly meaning: string
}

export const HEALTH_WORDS: Readonly<Record<Health, HealthWords>> = {
  fast: { label: 'Fast', meaning: 'round trip below 80 ms' },
  fair: { label: 'Fair', meaning: 'round trip of 80 to 249 ms' },
  slow: { label: 'Slow', meaning: 'round trip of 250 ms or more' },
  measuring: { label: 'Measuring', meaning: 'no heartbeat was answered yet' },
  silent: { label: 'Silent', meaning: 'a heartbeat was missed, or the gateway is away' },
}

// Below 80 ms typing feels immediate; from 250 ms on people wait for each other in a conversation.
const FAIR_FROM_MS = 80
const SLOW_FROM_MS = 250
// A heartbeat comes every 30 s (contract, section 5); a session ends when two stay unanswered. The rest is for the
// gateway's own batching.
const SILENT_AFTER_MS = 50_000

export interface JudgedSession extends Session {
  readonly health: Health
}

/** Says how each session does. */
export function judgeSessions({ at, gateways, sessions }: TunnelState): JudgedSession[] {
  const away = new Set(gateways.filter((gateway) => !gateway.isAlive).map((gateway) => gateway.name))
  return sessions.map((session) => ({ ...session, health: healthOf(session, at, away) }))
}

function healthOf(session: Session, at: number, away: ReadonlySet<Gateway['name']>): Health {
  if (away.has(session.gateway) || at - session.lastSeenAt > SILENT_AFTER_MS) return 'silent'
  if (session.rttMs === null) return 'measuring'
  if (session.rttMs >= SLOW_FROM_MS) return 'slow'
  return session.rttMs >= FAIR_FROM_MS ? 'fair' : 'fast'
}

/** What stands beside a health: for a silent session, why it is taken for one. */
export function explainHealth({ health, lastSeenAt }: JudgedSession, at: number): string {
  const { label } = HEALTH_WORDS[health]
  if (health !== 'silent') return label
  const silence = at - lastSeenAt
  return silence > SILENT_AFTER_MS ? `${label} ${formatDuration(silence)}` : 'Gateway away'
}

/** The worst of them; `fast` where there is none. */
export function worstHealth(sessions: readonly JudgedSession[]): Health {
  return HEALTHS.findLast((health) => sessions.some((session) => session.health === health)) ?? 'fast'
}

/** How most of them do; the worse one where two are as many, `fast` where there is none. */
export function typicalHealth(sessions: readonly JudgedSession[]): Health {
  const counts = countByHealth(sessions)
  const most = Math.max(...Object.values(counts))
  return most === 0 ? 'fast' : (HEALTHS.findLast((health) => counts[health] === most) ?? 'fast')
}

/** How many sessions do how well. */
export function countByHealth(sessions: readonly JudgedSession[]): Readonly<Record<Health, number>> {
  const counts = { fast: 0, fair: 0, slow: 0, measuring: 0, silent: 0 }
  for (const { health } of sessions) counts[health] += 1
  return counts
}

/** The middle one of the known round-trip times; null when none is known. */
export function medianRtt(sessions: readonly Session[]): number | null {
  const times = sessions.flatMap(({ rttMs }) => (rttMs === null ? [] : [rttMs])).sort((a, b) => a - b)
  return times[Math.floor((times.length - 1) / 2)] ?? null
}
