import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import { JsonText } from '../../kernel/text.ts'
import type { Tx } from '../../store/store.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, type Answer, type Route, type RouteRequest, routeOf } from '../../wire/route.ts'
import {
  AnyNameParams,
  encodeHeartbeat,
  encodePing,
  encodeWithUrl,
  fromHeartbeatBody,
  HeartbeatBody,
  HeartbeatPage,
  HeartbeatParams,
  HeartbeatQuery,
  HeartbeatSchema,
  HeartbeatWithUrl,
  PingPage,
  PingParams,
  signalOf,
  SignalParams,
} from './schemas.ts'
import type { Heartbeats } from './service.ts'

const route = routeOf('Alerts')

/** Who may read the list and the events. */
export const HEARTBEAT_READERS = ['admin', 'devops', 'auditor', 'service'] as const
const OPERATORS = ['admin', 'devops'] as const
const SENDERS = ['admin', 'service', 'devops'] as const

export const HEARTBEAT_ERRORS = {
  heartbeat_not_found: { status: 404, meaning: 'There is no such heartbeat.' },
  ping_not_found: { status: 404, meaning: 'No heartbeat has this address for pings.' },
} as const satisfies ErrorCodes

const { heartbeat_not_found, ping_not_found } = HEARTBEAT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

// What is kept of the body of a ping; the rest is read and dropped.
const KEPT_BYTES = 10_000
const READ_BYTES = 262_144

/** docs/specification.md, Heartbeats */
export function heartbeatRoutes(heartbeats: Heartbeats, clock: Clock): Route[] {
  const stateOf = async (tx: Tx, { params }: { params: { name: string } }) => {
    const known = await heartbeats.find(params.name, tx)
    return known && new JsonText(encodeHeartbeat(known))
  }
  return [
    route({
      method: 'PUT',
      path: '/alerts/heartbeats/:name',
      operation: 'putHeartbeat',
      summary: 'Create a heartbeat, or change its settings',
      description:
        'A field that is left out gets its default. A change of the settings counts the next beat from then.',
      access: OPERATORS,
      params: HeartbeatParams,
      body: HeartbeatBody,
      answers: {
        201: { description: 'The new heartbeat, with its address for pings.', schema: HeartbeatWithUrl },
        200: { description: 'The existing heartbeat with these settings.', schema: HeartbeatSchema },
      },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromHeartbeatBody(body, clock.now()),
      audit: { kind: 'heartbeat', before: stateOf },
      change: async (tx, { params, identity }, settings) => {
        const put = await heartbeats.put(tx, params.name, settings, identity.id)
        if (put.outcome !== 'created') return ok(new JsonText(encodeHeartbeat(put.heartbeat)))
        const storedBody = new JsonText(encodeWithUrl({ ...put.heartbeat, pingUrl: null }))
        return {
          ...created(
            '/alerts/heartbeats',
            params.name,
            new JsonText(encodeWithUrl({ ...put.heartbeat, pingUrl: put.pingUrl })),
          ),
          storedBody,
        }
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats',
      operation: 'listHeartbeats',
      summary: 'List heartbeats, newest first',
      access: HEARTBEAT_READERS,
      query: HeartbeatQuery,
      answers: { 200: { description: 'A page of heartbeats.', schema: HeartbeatPage } },
      read: async ({ query }) => ok(encodePage(await heartbeats.list(parsePage(query)), encodeHeartbeat)),
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats/:name',
      operation: 'getHeartbeat',
      summary: 'Read a heartbeat',
      access: HEARTBEAT_READERS,
      params: AnyNameParams,
      answers: { 200: { description: 'The heartbeat.', schema: HeartbeatSchema } },
      errors: { heartbeat_not_found },
      read: async ({ params }) => ok(new JsonText(encodeHeartbeat(await heartbeats.get(params.name)))),
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats/:name/pings',
      operation: 'listHeartbeatPings',
      summary: 'List the last 100 pings of a heartbeat, newest first',
      access: HEARTBEAT_READERS,
      params: AnyNameParams,
      query: HeartbeatQuery,
      answers: { 200: { description: 'A page of pings.', schema: PingPage } },
      errors: { heartbeat_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await heartbeats.pings(params.name, parsePage(query)), encodePing)),
    }),
    route({
      method: 'POST',
      path: '/alerts/heartbeats/:name/rotate',
      operation: 'rotateHeartbeat',
      summary: 'Give a heartbeat another address for its pings',
      description: 'The address before it ends at once. A heartbeat that has none gets its first one.',
      access: OPERATORS,
      params: AnyNameParams,
      answers: {
        200: { description: 'The heartbeat, with its address for pings.', schema: HeartbeatWithUrl },
      },
      errors: { heartbeat_not_found },
      audit: { kind: 'heartbeat' },
      change: async (tx, { params, identity }) => {
        const { heartbeat, pingUrl } = await heartbeats.rotate(tx, params.name, identity.id)
        const storedBody = new JsonText(encodeWithUrl({ ...heartbeat, pingUrl: null }))
        return { ...ok(new JsonText(encodeWithUrl({ ...heartbeat, pingUrl }))), storedBody }
      },
    }),
    route({
      method: 'DELETE',
      path: '/alerts/heartbeats/:name',
      operation: 'deleteHeartbeat',
      summary: 'Delete a heartbeat; its alert recovers',
      access: OPERATORS,
      params: AnyNameParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { heartbeat_not_found },
      audit: { kind: 'heartbeat', before: stateOf },
      change: async (tx, { params, identity }) => {
        await heartbeats.remove(tx, params.name, identity.id)
        return { status: 204 }
      },
    }),
    route({
      method: 'POST',
      path: '/alerts/heartbeats/:name/beat',
      operation: 'beatHeartbeat',
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
    ...(['GET', 'POST'] as const).flatMap((method) => pingRoutes(heartbeats, method)),
  ]
}

/** The address of a heartbeat: whoever knows it may call it, with what a crontab line has at hand. */
function pingRoutes(heartbeats: Heartbeats, method: 'GET' | 'POST'): Route[] {
  const suffix = method === 'GET' ? '' : 'WithBody'
  const common = {
    method,
    access: 'public',
    takesRawBody: true,
    maxBodyBytes: READ_BYTES,
    isRepeatable: false,
    answers: {
      200: { description: 'The ping is recorded.', schema: Type.String(), contentType: 'text/plain' },
    },
    errors: { ping_not_found },
  } as const
  return [
    route({
      ...common,
      path: '/ping/:token',
      operation: `ping${suffix}`,
      summary: 'Say that a run is done: a beat',
      description: 'The first 10,000 bytes of a body are kept with the ping.',
      params: PingParams,
      prepare: ({ params, remoteAddress }) => heartbeats.admitPing(params.token, remoteAddress),
      change: async (tx, request, name) => {
        await heartbeats.ping(tx, name, { kind: 'done', exitCode: null, ...pingOf(request) })
        return RECORDED
      },
    }),
    route({
      ...common,
      path: '/ping/:token/:signal',
      operation: `pingSignal${suffix}`,
      summary: 'Say that a run has started, failed, or ended with an exit code; or keep a text',
      description:
        'A failure raises the alert at once, as an exit code other than 0 does. A start and a text recover nothing.',
      params: SignalParams,
      prepare: ({ params, remoteAddress }) => heartbeats.admitPing(params.token, remoteAddress),
      change: async (tx, request, name) => {
        await heartbeats.ping(tx, name, { ...signalOf(request.params.signal), ...pingOf(request) })
        return RECORDED
      },
    }),
  ]
}

const RECORDED: Answer = {
  status: 200,
  body: 'OK\n',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
}

function pingOf({ params, body, remoteAddress }: RouteRequest<{ token: string }, unknown, unknown>) {
  return { token: params.token, remoteAddress, body: textOf(body as Buffer) }
}

/** The text that is kept: whole characters, and none that a database refuses. */
function textOf(body: Buffer): string {
  const kept = new TextDecoder().decode(body.subarray(0, KEPT_BYTES), { stream: true })
  return kept.replaceAll('\0', '')
}
