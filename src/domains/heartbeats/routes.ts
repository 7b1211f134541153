import { JsonText } from '../../kernel/json-text.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, route, type Route } from '../../wire/route.ts'
import {
  AnyNameParams,
  encodeHeartbeat,
  fromHeartbeatBody,
  HeartbeatBody,
  HeartbeatPage,
  HeartbeatParams,
  HeartbeatQuery,
  HeartbeatSchema,
} from './schemas.ts'
import type { Heartbeats } from './service.ts'

/** Who may read the list and the events. */
export const HEARTBEAT_READERS = ['admin', 'devops', 'auditor', 'service'] as const
const OPERATORS = ['admin', 'devops'] as const
const SENDERS = ['admin', 'service', 'devops'] as const

export const HEARTBEAT_ERRORS = {
  heartbeat_not_found: { status: 404, meaning: 'There is no such heartbeat.' },
} as const satisfies ErrorCodes

const { heartbeat_not_found } = HEARTBEAT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

/** docs/specification.md, Heartbeats */
export function heartbeatRoutes(heartbeats: Heartbeats): Route[] {
  return [
    route({
      method: 'PUT',
      path: '/alerts/heartbeats/:name',
      operation: 'putHeartbeat',
      tag: 'Alerts',
      summary: 'Create a heartbeat, or change its settings',
      description:
        'A field that is left out gets its default. A change of the settings counts the next beat from then.',
      access: OPERATORS,
      params: HeartbeatParams,
      body: HeartbeatBody,
      answers: {
        201: { description: 'The new heartbeat.', schema: HeartbeatSchema },
        200: { description: 'The existing heartbeat with these settings.', schema: HeartbeatSchema },
      },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromHeartbeatBody(body),
      change: async (tx, { params, identity }, settings) => {
        const { heartbeat, outcome } = await heartbeats.put(tx, params.name, settings, identity.id)
        const text = new JsonText(encodeHeartbeat(heartbeat))
        return outcome === 'created' ? created(text) : ok(text)
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats',
      operation: 'listHeartbeats',
      tag: 'Alerts',
      summary: 'List heartbeats, newest first',
      access: HEARTBEAT_READERS,
      query: HeartbeatQuery,
      answers: { 200: { description: 'A page of heartbeats.', schema: HeartbeatPage } },
      read: async ({ query }) => ok(encodePage(await heartbeats.list(parsePage(query)), encodeHeartbeat)),
    }),
    route({
      method: 'DELETE',
      path: '/alerts/heartbeats/:name',
      operation: 'deleteHeartbeat',
      tag: 'Alerts',
      summary: 'Delete a heartbeat; its alert recovers',
      access: OPERATORS,
      params: AnyNameParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { heartbeat_not_found },
      change: async (tx, { params, identity }) => {
        await heartbeats.remove(tx, params.name, identity.id)
        return { status: 204 }
      },
    }),
    route({
      method: 'POST',
      path: '/alerts/heartbeats/:name/beat',
      operation: 'beatHeartbeat',
      tag: 'Alerts',
      summary: 'Send a beat',
      description: 'The alert of a missed heartbeat recovers.',
      access: SENDERS,
      params: AnyNameParams,
      answers: { 204: { description: 'The beat is recorded.' } },
      errors: { heartbeat_not_found },
      change: async (tx, { params, identity }) => {
        await heartbeats.beat(tx, params.name, identity.id)
        return { status: 204 }
      },
    }),
  ]
}
