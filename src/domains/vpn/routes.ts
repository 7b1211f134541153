import { parsePage, toPage } from '../../wire/page.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import {
  AuditPage,
  AuditQuery,
  PoolSchema,
  SessionPage,
  SessionQuery,
  toAuditWire,
  toSessionWire,
} from './schemas.ts'
import type { Vpn } from './service.ts'

const READERS = ['admin', 'devops', 'auditor'] as const
const OPERATORS = ['admin', 'devops'] as const

/** contract, section 3: Operations */
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
      handle: async ({ query }) => ok(toPage(await vpn.list(query, parsePage(query)), toSessionWire)),
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
      errors: ['session_not_found'],
      handle: async ({ params, identity }) => {
        await vpn.disconnect(params.id, identity.id)
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
      handle: async () => ok(await vpn.pool()),
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
      handle: async ({ query }) => ok(toPage(await vpn.audit(query, parsePage(query)), toAuditWire)),
    }),
  ]
}
