import { Type } from 'typebox'
import { ok, route, type Route } from '../../wire/route.ts'
import { SESSION_PATH } from './handshake.ts'

export interface GatewayRouteOptions {
  /** What the picture of the tunnels is drawn from, as JSON. */
  readonly tunnels: () => Promise<unknown>
}

/** What the gateway answers itself, beside its page and what every process answers. */
export function gatewayRoutes({ tunnels }: GatewayRouteOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: SESSION_PATH,
      operation: 'openSession',
      tag: 'Gateway',
      summary: 'Open a session over WebSocket',
      access: 'public',
      answers: {},
      errors: ['upgrade_required'],
      handle: () => ({
        status: 426,
        body: { code: 'upgrade_required', message: 'A session is opened over WebSocket.' },
        headers: { upgrade: 'websocket' },
      }),
    }),
    route({
      method: 'GET',
      path: '/tunnels/state',
      operation: 'getTunnels',
      tag: 'Gateway',
      summary: 'Gateways, sessions and virtual addresses as they are now',
      access: ['admin', 'devops', 'auditor'],
      answers: { 200: { description: 'What the page draws.', schema: Type.Unknown() } },
      handle: async () => ok(await tunnels()),
    }),
  ]
}
