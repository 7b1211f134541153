import { Type, type Static } from 'typebox'
import { SECOND, toRfc3339 } from '../../kernel/time.ts'
import { PageOf, PageQuery } from '../../wire/page.ts'
import { Fields, Id, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import {
  AUDIT_EVENTS,
  SESSION_STATES,
  type AuditEntry,
  type Gateway,
  type PoolUsage,
  type Session,
} from './model.ts'

const UserId = Text({ minLength: 1, maxLength: 64, description: 'A user’s id.' })
const GatewayName = Text({
  minLength: 1,
  maxLength: 253,
  description: 'A gateway’s name.',
  examples: ['primary'],
})
const VirtualIp = Type.String({ format: 'ipv4', examples: ['100.64.0.2'] })
const RemoteAddress = Type.String({
  description: 'Where the connection came from.',
  examples: ['192.0.2.10'],
})

export const SessionSchema = Fields(
  {
    id: Id,
    user: Fields({ id: Type.String(), name: Type.String({ examples: ['ada'] }) }),
    device: Nullable<string>({
      type: 'string',
      description: 'Null for a session without a name, of which nothing is remembered.',
      examples: ['laptop'],
    }),
    virtual_ip: VirtualIp,
    gateway: GatewayName,
    remote_address: RemoteAddress,
    connected_at: Timestamp,
    last_seen_at: Timestamp,
    rtt_ms: Nullable<number>({
      type: 'number',
      description: 'Round-trip time of the last heartbeat; null until one was answered.',
      examples: [12.5],
    }),
    closed_at: NullableTimestamp,
    close_code: Nullable<number>({
      type: 'integer',
      description:
        'Close code of the WebSocket: 1001 the gateway went away, 4401 the token ended, 4403 an operator, …',
      examples: [4401],
    }),
  },
  { $id: 'VpnSession' },
)
export type SessionWire = Static<typeof SessionSchema>

export const SessionPage = PageOf(SessionSchema)

export const SessionQuery = Fields({
  state: Type.Optional(OneOf(SESSION_STATES, 'Live sessions, or those that are over; `open` when left out.')),
  user: Type.Optional(UserId),
  gateway: Type.Optional(GatewayName),
  ...PageQuery,
})

const Addresses = (description: string) => Type.Integer({ minimum: 0, description })

export const PoolSchema = Fields(
  {
    cidr: Type.String({ examples: ['100.64.0.0/16'] }),
    size: Addresses('Addresses that can be leased: without network, gateway and broadcast.'),
    used: Addresses('Held by live sessions.'),
    cooling: Addresses('Released lately: for the device that had them, not yet for others.'),
    free: Addresses('For everybody.'),
  },
  { $id: 'VpnPool' },
)

export const AuditSchema = Fields(
  {
    id: Id,
    at: Timestamp,
    event: OneOf(AUDIT_EVENTS),
    session_id: Nullable<string>({ type: 'string', description: 'Null for `auth_failed`.' }),
    user_id: Nullable<string>({ type: 'string', description: 'Null when the token told of nobody.' }),
    gateway: GatewayName,
    remote_address: Nullable<string>({
      type: 'string',
      description: 'Null for a line that stands for refusals from many addresses.',
    }),
    reason: Nullable<string>({ type: 'string', description: 'Why a session ended, or was refused.' }),
  },
  { $id: 'VpnAuditEntry' },
)
export type AuditWire = Static<typeof AuditSchema>

export const AuditPage = PageOf(AuditSchema)

export const AuditQuery = Fields({
  event: Type.Optional(OneOf(AUDIT_EVENTS)),
  user: Type.Optional(UserId),
  ...PageQuery,
})

export interface GatewayWire {
  readonly name: string
  readonly address: string
  readonly heartbeat_seconds: number
  readonly last_seen_at: string
  readonly alive: boolean
}

/** The tunnels of all gateways at one moment. */
export interface TunnelsWire {
  readonly gateways: readonly GatewayWire[]
  /** The newest ones; there may be more. */
  readonly sessions: readonly SessionWire[]
  /** How many live sessions there are in all. */
  readonly session_count: number
  readonly pool: PoolUsage
}

export function toSessionWire(session: Session): SessionWire {
  return {
    id: session.id,
    user: session.user,
    device: session.device,
    virtual_ip: session.virtualIp,
    gateway: session.gateway,
    remote_address: session.remoteAddress,
    connected_at: toRfc3339(session.connectedAt),
    last_seen_at: toRfc3339(session.lastSeenAt),
    rtt_ms: session.rttMs,
    closed_at: session.closedAt === null ? null : toRfc3339(session.closedAt),
    close_code: session.closeCode,
  }
}

export function toAuditWire(entry: AuditEntry): AuditWire {
  return {
    id: entry.id,
    at: toRfc3339(entry.at),
    event: entry.event,
    session_id: entry.sessionId,
    user_id: entry.userId,
    gateway: entry.gateway,
    remote_address: entry.remoteAddress,
    reason: entry.reason,
  }
}

export function toGatewayWire({ name, address, heartbeatMs, lastSeenAt, alive }: Gateway): GatewayWire {
  return {
    name,
    address,
    heartbeat_seconds: heartbeatMs / SECOND,
    last_seen_at: toRfc3339(lastSeenAt),
    alive,
  }
}
