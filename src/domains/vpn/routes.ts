import { JsonText } from '../../kernel/json-text.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import {
  AuditPage,
  AuditQuery,
  encodeAudit,
  encodePool,
  encodeSession,
  PoolSchema,
  SessionPage,
  SessionQuery,
} from './schemas.ts'
import type { Vpn } from './service.ts'

const READERS = ['admin', 'devops', 'auditor'] as const
const OPERATORS = ['admin', 'devops'] as const

export const VPN_ERRORS = {
  session_not_found: { status: 404, meaning: 'There is no such session.' },
} as const satisfies ErrorCodes

const { session_not_found } = VPN_ERRORS

/** docs/specification.md, HTTP API */
export function vpnRoutes(vpn: Vpn): Route[] {
  return [
    route({
      method: 'GET',
      path: '/vpn/sessions',
      operation: 'listVpnSessions',
      tag: 'VPN',
      summary: 'List sessions, newest first',
      description: 'Those that are live now, on all gateways; with `state=closed` those that are over.',
      access: READERS,
      query: SessionQuery,
      answers: { 200: { description: 'A page of sessions.', schema: SessionPage } },
      read: async ({ query }) => ok(encodePage(await vpn.list(query, parsePage(query)), encodeSession)),
    }),
    route({
      method: 'DELETE',
      path: '/vpn/sessions/:id',
      operation: 'disconnectVpnSession',
      tag: 'VPN',
      summary: 'Disconnect a session',
      description:
        'The client is told with close code 4403 within a second, and may connect again: disable its user to keep ' +
        'it out. A session that is over already stays as it is.',
      access: OPERATORS,
      params: IdParams,
      answers: { 204: { description: 'The session is over.' } },
      errors: { session_not_found },
      change: async (tx, { params, identity }) => {
        await vpn.disconnect(tx, params.id, identity.id)
        return { status: 204 }
      },
    }),
    route({
      method: 'GET',
      path: '/vpn/pool',
      operation: 'getVpnPool',
      tag: 'VPN',
      summary: 'How full the address pool is',
      access: READERS,
      answers: { 200: { description: 'The pool, counted now.', schema: PoolSchema } },
      read: async () => ok(new JsonText(encodePool(await vpn.pool()))),
    }),
    route({
      method: 'GET',
      path: '/vpn/audit',
      operation: 'listVpnAudit',
      tag: 'VPN',
      summary: 'Read the audit trail of the gateways, newest first',
      description:
        'A line for each session that was registered or closed, and for those who were turned away; of these, ' +
        'repetitions within a minute are one line with their number.',
      access: READERS,
      query: AuditQuery,
      answers: { 200: { description: 'A page of the trail.', schema: AuditPage } },
      read: async ({ query }) => ok(encodePage(await vpn.audit(query, parsePage(query)), encodeAudit)),
    }),
  ]
}
