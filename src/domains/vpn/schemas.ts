import { Type } from 'typebox'
import { SECOND } from '../../kernel/time.ts'
import { encoderOf } from '../../wire/codec.ts'
import { PageOf, PageQuery } from '../../wire/page.ts'
import { Fields, Id, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import { AUDIT_EVENTS, SESSION_STATES, type Tunnels } from './model.ts'

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

const SessionSchema = Fields(
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

const AuditSchema = Fields(
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

export const AuditPage = PageOf(AuditSchema)

export const AuditQuery = Fields({
  event: Type.Optional(OneOf(AUDIT_EVENTS)),
  user: Type.Optional(UserId),
  ...PageQuery,
})

const TunnelGateway = Fields({
  name: GatewayName,
  address: Type.String(),
  heartbeat_seconds: Type.Number(),
  last_seen_at: Timestamp,
  alive: Type.Boolean(),
})

/** The tunnels of all gateways at one moment, as the page in the browser reads them. */
const TunnelsSchema = Fields({
  at: Timestamp,
  gateways: Type.Array(TunnelGateway),
  sessions: Type.Array(SessionSchema),
  total: Type.Integer(),
  pool: PoolSchema,
})

export const encodeSession = encoderOf(SessionSchema)
export const encodePool = encoderOf(PoolSchema)

/** A line of the audit trail in pages and events. */
export const encodeAudit = encoderOf(AuditSchema)

export const encodeTunnels = encoderOf(TunnelsSchema, {
  gateways: ({ gateways }: Tunnels) =>
    gateways.map((gateway) => ({ ...gateway, heartbeatSeconds: gateway.heartbeatMs / SECOND })),
})
