import { Type } from 'typebox'
import { formatIpv4 } from '../../kernel/addresses.ts'
import { JsonText } from '../../kernel/text.ts'
import { SECOND } from '../../kernel/time.ts'
import { encoderOf } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage, PageOf, TimedPageQuery } from '../../wire/page.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import {
  IdParams,
  CauseOf,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
} from '../../wire/schemas.ts'
import { AUDIT_CODES, AUDIT_EVENTS, SESSION_STATES, type Session, type Tunnels } from './model.ts'
import type { Sessions } from './service.ts'

const route = routeOf('VPN')

/** Who may read the list and the events. */
export const SESSION_READERS = ['admin', 'devops', 'auditor'] as const
const OPERATORS = ['admin', 'devops'] as const

export const SESSION_ERRORS = {
  session_not_found: { status: 404, meaning: 'There is no such session.' },
} as const satisfies ErrorCodes

const { session_not_found } = SESSION_ERRORS

/** docs/specification.md, HTTP API */
export function sessionRoutes(sessions: Sessions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/vpn/sessions',
      operation: 'listVpnSessions',
      summary: 'List sessions, newest first',
      description: 'The live sessions of all gateways; with `state=closed` the closed ones.',
      access: SESSION_READERS,
      query: SessionQuery,
      answers: { 200: { description: 'A page of sessions.', schema: PageOf(SessionSchema) } },
      read: async ({ query }) => ok(encodePage(await sessions.list(query, parsePage(query)), encodeSession)),
    }),
    route({
      method: 'GET',
      path: '/vpn/tunnels',
      operation: 'listVpnTunnels',
      summary: 'Read gateways and live sessions at once',
      description:
        'The gateways of the last day, the newest 2,000 live sessions, and the number of all. A standby adds them to its ' +
        'own picture of the sessions.',
      access: SESSION_READERS,
      answers: { 200: { description: 'The sessions as they are now.', schema: TunnelsSchema } },
      read: async () => ok(new JsonText(encodeTunnels(await sessions.tunnels()))),
    }),
    route({
      method: 'DELETE',
      path: '/vpn/sessions/:id',
      operation: 'disconnectVpnSession',
      summary: 'Disconnect a session',
      description:
        'The connection is closed with code 4403 within a second. The client may connect again; disable its user to ' +
        'prevent that. A session that is closed already stays as it is.',
      access: OPERATORS,
      params: IdParams,
      answers: { 204: { description: 'The session is closed.' } },
      errors: { session_not_found },
      audit: { kind: 'vpn-session' },
      change: async (tx, { params, identity }) => {
        await sessions.disconnect(tx, params.id, identity.id)
        return { status: 204 }
      },
    }),
    route({
      method: 'GET',
      path: '/vpn/audit',
      operation: 'listVpnAudit',
      summary: 'Read the audit trail of the gateways, newest first',
      description:
        'An entry for each session that was registered or closed, and for each connection that was refused; ' +
        'repeated refusals within a minute are one entry with their number.',
      access: SESSION_READERS,
      query: AuditQuery,
      answers: { 200: { description: 'A page of the audit trail.', schema: PageOf(AuditSchema) } },
      read: async ({ query }) => ok(encodePage(await sessions.audit(query, parsePage(query)), encodeAudit)),
    }),
  ]
}

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
      description: 'Null for a session whose address is not kept for the next one.',
      examples: ['laptop'],
    }),
    virtual_ip: VirtualIp,
    gateway: GatewayName,
    remote_address: RemoteAddress,
    connected_at: Timestamp,
    last_seen_at: Timestamp,
    rtt_ms: Nullable<number>({
      type: 'number',
      description: 'Round-trip time of the last answered heartbeat; null before the first.',
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

const SessionQuery = Fields({
  state: Type.Optional(OneOf(SESSION_STATES, 'Live sessions, or closed ones; `open` when left out.')),
  user: Type.Optional(UserId),
  gateway: Type.Optional(GatewayName),
  ...TimedPageQuery,
})

export const AuditSchema = Fields(
  {
    id: Id,
    at: Timestamp,
    event: OneOf(AUDIT_EVENTS),
    session_id: Nullable<string>({ type: 'string', description: 'Null for `auth_failed`.' }),
    user_id: Nullable<string>({ type: 'string', description: 'Null when no user is known.' }),
    user_name: Nullable<string>({
      type: 'string',
      description:
        'At the time of the event. Null when no user is known, and in entries of earlier releases.',
      examples: ['ada'],
    }),
    device: Nullable<string>({
      type: 'string',
      description: 'Null when the client has named none, and in entries of earlier releases.',
      examples: ['laptop'],
    }),
    virtual_ip: Nullable<string>({
      type: 'string',
      format: 'ipv4',
      description: 'The address of the session. Null for `auth_failed`, and in entries of earlier releases.',
      examples: ['100.64.0.2'],
    }),
    gateway: GatewayName,
    remote_address: Nullable<string>({
      type: 'string',
      description: 'Null for an entry that stands for refusals from many addresses.',
    }),
    reason: Nullable<string>({
      type: 'string',
      description: 'Why the session was closed, or the connection refused.',
    }),
    cause: CauseOf(AUDIT_CODES, 'what `reason` says.'),
  },
  { $id: 'VpnAuditEntry' },
)

const AuditQuery = Fields({
  event: Type.Optional(OneOf(AUDIT_EVENTS)),
  user: Type.Optional(UserId),
  ...TimedPageQuery,
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
  /** The body of `GET /vpn/pool`; not in `GET /vpn/tunnels`. */
  pool: Type.Optional(Type.Unknown()),
})

const encodeSession = encoderOf(SessionSchema, {
  user: ({ userId: id, userName: name }: Session) => ({ id, name }),
  virtual_ip: ({ address }: Session) => formatIpv4(address),
  rtt_ms: ({ rttUs }: Session) => (rttUs === null ? null : rttUs / 1_000),
})

/** An entry of the audit trail, in pages and events. */
export const encodeAudit = encoderOf(AuditSchema)

export const encodeTunnels = encoderOf(TunnelsSchema, {
  pool: ({ pool }: Tunnels) => pool,
  gateways: ({ gateways }: Tunnels) =>
    gateways.map((gateway) => ({ ...gateway, heartbeatSeconds: gateway.heartbeatMs / SECOND })),
  sessions: ({ sessions }: Tunnels) => new JsonText(`[${sessions.map(encodeSession).join(',')}]`),
})
