import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import { JsonText } from '../../kernel/json-text.ts'
import {
  AuditPage,
  AuditQuery,
  encodeAudit,
  encodeSession,
  encodeTunnels,
  SessionPage,
  SessionQuery,
  TunnelsSchema,
} from './schemas.ts'
import type { Sessions } from './service.ts'

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
      tag: 'VPN',
      summary: 'List sessions, newest first',
      description: 'The live sessions of all gateways; with `state=closed` the closed ones.',
      access: SESSION_READERS,
      query: SessionQuery,
      answers: { 200: { description: 'A page of sessions.', schema: SessionPage } },
      read: async ({ query }) => ok(encodePage(await sessions.list(query, parsePage(query)), encodeSession)),
    }),
    route({
      method: 'GET',
      path: '/vpn/tunnels',
      operation: 'listVpnTunnels',
      tag: 'VPN',
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
      tag: 'VPN',
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
      tag: 'VPN',
      summary: 'Read the audit trail of the gateways, newest first',
      description:
        'An entry for each session that was registered or closed, and for each connection that was refused; ' +
        'repeated refusals within a minute are one entry with their number.',
      access: SESSION_READERS,
      query: AuditQuery,
      answers: { 200: { description: 'A page of the audit trail.', schema: AuditPage } },
      read: async ({ query }) => ok(encodePage(await sessions.audit(query, parsePage(query)), encodeAudit)),
    }),
  ]
}
