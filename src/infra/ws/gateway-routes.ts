import { Type } from 'typebox'
import { helpLink, type ErrorCodes } from '../../wire/error-codes.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import type { Sender } from '../http/api-client/headers-for-api.ts'
import { SESSION_PATH } from './handshake.ts'

const route = routeOf('Gateway')

export interface GatewayRouteOptions {
  /** The state of the tunnels as JSON, for this caller. */
  readonly tunnels: (caller: Sender) => Promise<unknown>
}

/** Errors that only a gateway answers with. */
export const GATEWAY_ERRORS = {
  api_unavailable: {
    status: 503,
    meaning: 'The api behind the gateway does not answer; the outcome of the request is unknown.',
  },
  draining: { status: 503, meaning: 'The gateway is stopping; connect to another one.' },
  pool_exhausted: { status: 503, meaning: 'No virtual address is free; try again later.' },
  upgrade_required: { status: 426, meaning: 'The path is for WebSocket connections.' },
} as const satisfies ErrorCodes

const { upgrade_required } = GATEWAY_ERRORS

/** What the gateway answers itself, beside its page and what every process answers. */
export function gatewayRoutes({ tunnels }: GatewayRouteOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/',
      operation: 'openGateway',
      summary: 'Leads a browser to the page of the tunnels',
      access: 'public',
      query: Type.Object({}),
      answers: { 302: { description: 'To `/tunnels`.' } },
      read: () => ({ status: 302, headers: { location: '/tunnels' } }),
    }),
    route({
      method: 'GET',
      path: SESSION_PATH,
      operation: 'openSession',
      summary: 'Open a session over WebSocket',
      access: 'public',
      query: Type.Object({
        device: Type.Optional(Type.String({ description: 'Names the device of the client.' })),
      }),
      answers: {},
      errors: { upgrade_required },
      read: () => ({
        status: 426,
        body: { code: 'upgrade_required', message: 'A session is opened over WebSocket.' },
        headers: { upgrade: 'websocket', ...helpLink('upgrade_required') },
      }),
    }),
    route({
      method: 'GET',
      path: '/tunnels/state',
      operation: 'getTunnels',
      summary: 'Gateways, sessions and virtual addresses as they are now',
      access: ['admin', 'devops', 'auditor'],
      answers: { 200: { description: 'What the page draws.', schema: Type.Unknown() } },
      read: async ({ identity, requestId, remoteAddress: address }) =>
        ok(await tunnels({ identity, requestId, address })),
    }),
  ]
}
