import { judgeSessions, type JudgedSession } from '../../console/pages/tunnels/health.ts'
import { toGraph, type GatewayNode } from '../../console/pages/tunnels/graph.ts'
import { parseTunnelState } from '../../console/pages/tunnels/tunnel-state.ts'
import { tunnelsAnswer, type SessionItem, type TunnelsAnswer } from './tunnels-sample.ts'

/** What the page makes of an answer. */
export function judgedSessions(
  sessions: readonly SessionItem[],
  fields?: Partial<TunnelsAnswer>,
): JudgedSession[] {
  return judgeSessions(parseTunnelState(tunnelsAnswer(sessions, fields)))
}

export function graphOf(
  sessions: readonly SessionItem[],
  fields?: Partial<TunnelsAnswer>,
): readonly GatewayNode[] {
  const state = parseTunnelState(tunnelsAnswer(sessions, fields))
  return toGraph(state.gateways, judgeSessions(state))
}
