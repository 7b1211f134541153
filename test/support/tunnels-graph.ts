import { judgeSessions, type JudgedSession } from '../../console/pages/tunnels/health.ts'
import { toGraph, type GatewayNode } from '../../console/pages/tunnels/graph.ts'
import { toTunnelState, type TunnelsAnswer } from '../../console/pages/tunnels/tunnel-state.ts'
import { tunnelsAnswer, type SessionItem } from './tunnels-sample.ts'

/** What the page makes of an answer. */
export function judgedSessions(
  sessions: readonly SessionItem[],
  fields?: Partial<TunnelsAnswer>,
): JudgedSession[] {
  return judgeSessions(toTunnelState(tunnelsAnswer(sessions, fields)))
}

export function graphOf(
  sessions: readonly SessionItem[],
  fields?: Partial<TunnelsAnswer>,
): readonly GatewayNode[] {
  const state = toTunnelState(tunnelsAnswer(sessions, fields))
  return toGraph(state.gateways, judgeSessions(state))
}
