import type { Gateway, Session, TunnelState } from './tunnel-state.ts'

/** The health of a session, best first. */
export const HEALTHS = ['fast', 'fair', 'slow', 'measuring', 'silent'] as const

export type Health = (typeof HEALTHS)[number]

// Below 80 ms typing feels immediate; from 250 ms on people wait for each other in a conversation.
const FAIR_FROM_MS = 80
const SLOW_FROM_MS = 250
// An answer that comes at the last moment is one interval old, and is written down by its gateway within a third of one.
// The rest is for a busy machine.
const SILENT_AFTER_INTERVALS = 5 / 3

export interface JudgedSession extends Session {
  readonly health: Health
  /** How long nothing was heard from it, where that is too long. */
  readonly silentMs: number | null
}

/** Judges the health of each session. */
export function judgeSessions({ at, gateways, sessions }: TunnelState): JudgedSession[] {
  const byName = new Map(gateways.map((gateway) => [gateway.name, gateway]))
  return sessions.map((session) => {
    const gateway = byName.get(session.gateway)
    const silentMs = silenceOf(session, gateway, at)
    return { ...session, silentMs, health: healthOf(session, gateway, silentMs) }
  })
}

function silenceOf({ lastSeenAt }: Session, gateway: Gateway | undefined, at: number): number | null {
  const silence = at - lastSeenAt
  return gateway && silence > SILENT_AFTER_INTERVALS * gateway.heartbeatMs ? silence : null
}

function healthOf({ rttMs }: Session, gateway: Gateway | undefined, silentMs: number | null): Health {
  if (!(gateway?.isAlive ?? true) || silentMs !== null) return 'silent'
  if (rttMs === null) return 'measuring'
  if (rttMs >= SLOW_FROM_MS) return 'slow'
  return rttMs >= FAIR_FROM_MS ? 'fair' : 'fast'
}

/** The worst health of the sessions; `fast` without sessions. */
export function worstHealth(sessions: readonly JudgedSession[]): Health {
  return HEALTHS.findLast((health) => sessions.some((session) => session.health === health)) ?? 'fast'
}

/** The most frequent health; the worse of two that are as frequent, `fast` without sessions. */
export function typicalHealth(sessions: readonly JudgedSession[]): Health {
  const counts = countByHealth(sessions)
  const most = Math.max(...Object.values(counts))
  return most === 0 ? 'fast' : (HEALTHS.findLast((health) => counts[health] === most) ?? 'fast')
}

/** The number of sessions of each health. */
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
