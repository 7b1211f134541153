import type { AnswerOf } from '../../api/operations.ts'

/** What `GET /tunnels/state` answers, in the words of this page; times in epoch milliseconds of the gateway's clock. */
export interface TunnelState {
  readonly at: number
  readonly gateways: readonly Gateway[]
  readonly pool: Pool
  /** All live sessions; `sessions` holds no more than the gateway sends. */
  readonly total: number
  readonly sessions: readonly Session[]
  /** This is a standby, and the sessions of its primary are not in the answer. */
  readonly isPrimaryMissing: boolean
}

export interface Gateway {
  readonly name: string
  readonly address: string
  /** How often it asks its sessions for a sign of life. */
  readonly heartbeatMs: number
  readonly lastSeenAt: number
  readonly isAlive: boolean
}

export interface Pool {
  readonly cidr: string
  readonly size: number
  readonly used: number
  readonly cooling: number
  readonly free: number
}

export interface Session {
  readonly id: string
  readonly user: { readonly id: string; readonly name: string }
  readonly device: string | null
  readonly virtualIp: string
  readonly gateway: string
  readonly remoteAddress: string
  readonly connectedAt: number
  readonly lastSeenAt: number
  /** Null until a heartbeat was answered. */
  readonly rttMs: number | null
}

/** The answer: that of `GET /vpn/tunnels`, with the pool and whether a standby could ask its primary. */
export type TunnelsAnswer = AnswerOf<'listVpnTunnels'> & {
  readonly pool: AnswerOf<'getVpnPool'>
  readonly primary?: 'included' | 'unavailable'
}

export function toTunnelState(answer: TunnelsAnswer): TunnelState {
  const { at, gateways, pool, total, sessions, primary } = answer
  return {
    at: Date.parse(at),
    gateways: gateways.map(toGateway),
    pool,
    total,
    sessions: sessions.map(toSession),
    isPrimaryMissing: primary === 'unavailable',
  }
}

function toGateway(gateway: TunnelsAnswer['gateways'][number]): Gateway {
  return {
    name: gateway.name,
    address: gateway.address,
    heartbeatMs: gateway.heartbeat_seconds * 1_000,
    lastSeenAt: Date.parse(gateway.last_seen_at),
    isAlive: gateway.alive,
  }
}

function toSession(session: TunnelsAnswer['sessions'][number]): Session {
  return {
    id: session.id,
    user: session.user,
    device: session.device,
    virtualIp: session.virtual_ip,
    gateway: session.gateway,
    remoteAddress: session.remote_address,
    connectedAt: Date.parse(session.connected_at),
    lastSeenAt: Date.parse(session.last_seen_at),
    rttMs: session.rtt_ms,
  }
}
