import { localNumber } from '../../i18n/local.ts'
import { formatDuration, formatRtt } from '../../parts/format.ts'
import { countByHealth, HEALTHS, medianRtt, worstHealth, type Health, type JudgedSession } from './health.ts'
import type { PlacedNode } from './placed.ts'
import type { Gateway } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

/** What a screen reader says of a node. */
export function describeNode(node: PlacedNode, at: number): string {
  const words = tunnelWords()
  switch (node.kind) {
    case 'gateway': {
      const { gateway, sessions } = node.node
      return words.list([
        words.gatewayOf(gateway.name),
        describeGateway(gateway, at),
        describeHealths(sessions),
      ])
    }
    case 'user':
      return words.list([node.node.name, ...describeUser(node.node.sessions)])
    case 'session':
      return words.list([node.session.virtualIp, ...describeSession(node.session)])
    case 'more':
      return `${words.moreUsers(node.users.length)}; ${words.enterDraws}`
    case 'rest':
      return words.list([words.moreSessions(node.sessions.length), words.inTable])
  }
}

/** `up`, or since when it is not. */
export function describeGateway({ isAlive, lastSeenAt }: Gateway, at: number): string {
  const words = tunnelWords()
  if (isAlive) return words.up
  return lastSeenAt > 0 ? words.awayFor(formatDuration(at - lastSeenAt)) : words.away
}

/** `3 sessions: 2 fast, 1 slow`. */
export function describeHealths(sessions: readonly JudgedSession[]): string {
  const counts = countByHealth(sessions)
  const parts = HEALTHS.filter((health) => counts[health] > 0).map(
    (health) => `${localNumber(counts[health])} ${describeHealth(health)}`,
  )
  const { list, someSessions, consistsOf } = tunnelWords()
  const some = someSessions(sessions.length)
  return parts.length > 0 ? consistsOf(some, list(parts)) : some
}

/** The words for a health; for a silent session also how long it is silent, or that its gateway is away. */
export function explainHealth({ health, silentMs }: JudgedSession): string {
  const { healths, gatewayAway } = tunnelWords()
  const { label } = healths[health]
  if (health !== 'silent') return label
  return silentMs === null ? gatewayAway : `${label} ${formatDuration(silentMs)}`
}

/** A health within a sentence. */
export function describeHealth(health: Health): string {
  return tunnelWords().healths[health].label.toLowerCase()
}

function describeUser(sessions: readonly JudgedSession[]): string[] {
  const words = tunnelWords()
  const worst = describeHealth(worstHealth(sessions))
  const rtt = medianRtt(sessions)
  return [
    words.someSessions(sessions.length),
    ...(rtt === null ? [] : [words.medianOf(formatRtt(rtt))]),
    sessions.length === 1 ? worst : words.worst(worst),
  ]
}

function describeSession({ device, rttMs, health }: JudgedSession): string[] {
  const rtt = rttMs === null ? [] : [tunnelWords().roundTripOf(formatRtt(rttMs))]
  return [...(device ? [device] : []), ...rtt, describeHealth(health)]
}
