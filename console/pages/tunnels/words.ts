import { formatDuration, formatRtt, formatSome } from '../../parts/format.ts'
import { countByHealth, HEALTH_WORDS, HEALTHS, medianRtt, worstHealth, type JudgedSession } from './health.ts'
import type { PlacedNode } from './placed.ts'
import type { Gateway } from './tunnel-state.ts'

/** What a screen reader says of a node. */
export function describeNode(node: PlacedNode, at: number): string {
  switch (node.kind) {
    case 'gateway':
      return `Gateway ${node.node.gateway.name}, ${gatewayState(node.node.gateway, at)}, ${healthWords(node.node.sessions)}`
    case 'user':
      return `${node.node.name}, ${userWords(node.node.sessions)}`
    case 'session':
      return `${node.session.virtualIp}, ${sessionWords(node.session)}`
    case 'more':
      return `${formatSome(node.users.length, 'more user')}; Enter draws them`
    case 'rest':
      return `${formatSome(node.sessions.length, 'more session')} of this user, in the table`
  }
}

/** `up`, or since when it is not. */
export function gatewayState({ isAlive, lastSeenAt }: Gateway, at: number): string {
  if (isAlive) return 'up'
  return lastSeenAt > 0 ? `away for ${formatDuration(at - lastSeenAt)}` : 'away'
}

/** `3 sessions: 2 fast, 1 slow`. */
export function healthWords(sessions: readonly JudgedSession[]): string {
  const counts = countByHealth(sessions)
  const parts = HEALTHS.filter((health) => counts[health] > 0).map(
    (health) => `${counts[health]} ${HEALTH_WORDS[health].label.toLowerCase()}`,
  )
  const some = formatSome(sessions.length, 'session')
  return parts.length > 0 ? `${some}: ${parts.join(', ')}` : some
}

function userWords(sessions: readonly JudgedSession[]): string {
  const worst = HEALTH_WORDS[worstHealth(sessions)].label.toLowerCase()
  const rtt = medianRtt(sessions)
  const known = rtt === null ? '' : `, median round trip ${formatRtt(rtt)}`
  return `${formatSome(sessions.length, 'session')}${known}, ${sessions.length === 1 ? worst : `worst is ${worst}`}`
}

function sessionWords({ device, rttMs, health }: JudgedSession): string {
  const rtt = rttMs === null ? '' : `round trip ${formatRtt(rttMs)}, `
  return `${device ? `${device}, ` : ''}${rtt}${HEALTH_WORDS[health].label.toLowerCase()}`
}
