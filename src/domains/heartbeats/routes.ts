import { Type, type Static } from 'typebox'
import { FIRING_SEVERITIES, requireAllowedText, type FiringSeverity } from '../../kernel/alerts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { Tx } from '../../store/store.ts'
import { bodyWriter, decoderOf, encoderOf } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedPageQuery } from '../../wire/page.ts'
import { created, ok, routeOf, type Answer, type Route, type RouteRequest } from '../../wire/route.ts'
import {
  Fields,
  Nullable,
  NullableTimestamp,
  OneOf,
  PathName,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import {
  HEARTBEAT_STATUSES,
  PING_KINDS,
  settingsOf,
  statusOf,
  type AlertHeartbeat,
  type HeartbeatSettings,
  type RunSignal,
} from './model.ts'
import { requireSchedule } from './schedule.ts'
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
    return known && textOf(known)
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
        if (put.outcome !== 'created') return ok(textOf(put.heartbeat))
        const { body, storedBody } = bodiesOf(put.heartbeat, put.pingUrl)
        return { ...created('/alerts/heartbeats', params.name, body), storedBody }
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats',
      operation: 'listHeartbeats',
      summary: 'List heartbeats, newest first',
      access: HEARTBEAT_READERS,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of heartbeats.', schema: PageOf(HeartbeatSchema) } },
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
      read: async ({ params }) => ok(textOf(await heartbeats.get(params.name))),
    }),
    route({
      method: 'GET',
      path: '/alerts/heartbeats/:name/pings',
      operation: 'listHeartbeatPings',
      summary: 'List the last 100 pings of a heartbeat, newest first',
      access: HEARTBEAT_READERS,
      params: AnyNameParams,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of pings.', schema: PageOf(PingSchema) } },
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
        return { status: 200, ...bodiesOf(heartbeat, pingUrl) }
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

/** The address for pings is shown once: the stored answer does not have it. */
function bodiesOf(heartbeat: AlertHeartbeat, pingUrl: string) {
  return {
    body: textWithUrl({ ...heartbeat, pingUrl }),
    storedBody: textWithUrl({ ...heartbeat, pingUrl: null }),
  }
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
  return { token: params.token, remoteAddress, body: keptText(body as Buffer) }
}

/** The text that is kept: whole characters, and none that a database refuses. */
function keptText(body: Buffer): string {
  const kept = new TextDecoder().decode(body.subarray(0, KEPT_BYTES), { stream: true })
  return kept.replaceAll('\0', '')
}

const Name = PathName('A-Za-z0-9._-', 64, {
  description: 'The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.',
  examples: ['nightly-backup'],
})
const EverySeconds = Type.Integer({
  minimum: 30,
  maximum: 2_678_400,
  description: 'The longest time between two beats.',
  examples: [86_400],
})
const GraceSeconds = Type.Integer({
  minimum: 0,
  maximum: 604_800,
  description: 'How long a beat may be late.',
  examples: [600],
})
const Schedule = Text({
  minLength: 1,
  maxLength: 128,
  description: 'When a run begins, instead of `every_seconds`: five cron fields, such as `0 2 * * *`.',
})
const TimeZone = Text({
  minLength: 1,
  maxLength: 64,
  description: 'The time zone of the schedule, such as `Europe/Berlin`; UTC by default.',
})
const MaxRunSeconds = Type.Integer({
  minimum: 1,
  maximum: 2_678_400,
  description: 'The longest time from a start to its end.',
  examples: [3_600],
})
const Severity = OneOf(FIRING_SEVERITIES, 'Severity of the alert of a missed heartbeat.')
// Not an enum, because names are case-insensitive, as the level of a report.
const GivenSeverity = Type.String({
  maxLength: 16,
  description: `Case-insensitive: one of ${FIRING_SEVERITIES.join(', ')}.`,
  examples: ['HIGH'],
})
const Source = Text({
  minLength: 1,
  maxLength: 128,
  description: 'Source of the alert of a missed heartbeat.',
  examples: ['platform.backup'],
})

export const HeartbeatSchema = Fields(
  {
    name: Name,
    every_seconds: Nullable<number>({ ...EverySeconds, description: 'Null with a schedule.' }),
    schedule: Nullable<string>(Schedule),
    time_zone: Nullable<string>(TimeZone),
    grace_seconds: GraceSeconds,
    max_run_seconds: Nullable<number>(MaxRunSeconds),
    severity: Severity,
    source: Source,
    status: OneOf(HEARTBEAT_STATUSES, '`waiting` until the first beat.'),
    last_beat_at: NullableTimestamp,
    due_at: Timestamp,
    missed_at: NullableTimestamp,
    started_at: Nullable<string>({
      ...Timestamp,
      description: 'Start of the run that has not ended.',
    }),
    duration_seconds: Nullable<number>({
      type: 'integer',
      description: 'The duration of the last run with a start and an end.',
    }),
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    updated_by: Type.String({ description: 'Id of the caller.' }),
    updated_at: Timestamp,
    version: Version,
  },
  { $id: 'Heartbeat' },
)

const HeartbeatWithUrl = Fields(
  {
    ...HeartbeatSchema.properties,
    ping_url: Nullable<string>({
      type: 'string',
      description:
        'Where the program sends its pings, without any identity; shown this once. A path while `console.url` is unset.',
      examples: ['https://shop.example.org/ping/5f2b9c0e5c3b4a7d8e9f0a1b2c3d4e5f'],
    }),
  },
  { $id: 'HeartbeatWithUrl' },
)

const PingSchema = Fields(
  {
    at: Timestamp,
    kind: OneOf(PING_KINDS, '`exit` with its code; `done` also for a beat by name.'),
    exit_code: Nullable<number>({ type: 'integer', minimum: 0, maximum: 255 }),
    duration_seconds: Nullable<number>({
      type: 'integer',
      description: 'The duration of the run that the ping ends, if there was a start.',
    }),
    remote_address: Nullable<string>({ type: 'string', description: 'Null for a beat by name.' }),
    body: Type.String({ description: 'What the program has sent, at most 10,000 bytes.' }),
  },
  { $id: 'HeartbeatPing' },
)

const PingToken = Text({ minLength: 1, maxLength: 256, description: 'The last part of `ping_url`.' })
const PingParams = Fields({ token: PingToken })
const SignalParams = Fields({
  token: PingToken,
  signal: Type.String({
    maxLength: 5,
    patternFault: ['not_in_list', { allowed: ['start', 'fail', 'log', '0 to 255'] }],
    pattern: '^(start|fail|log|[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$',
    description: '`start`, `fail`, `log`, or the exit code of the run: 0 to 255.',
    examples: ['start'],
  }),
})

/** The signal of a path, whose word has been checked. */
export function signalOf(word: string): RunSignal {
  const kind = (['start', 'fail', 'log'] as const).find((each) => each === word)
  return kind ? { kind, exitCode: null } : { kind: 'exit', exitCode: Number(word) }
}

const HeartbeatParams = Fields({ name: Name })

// Any text is accepted where nothing is created: an unknown name is heartbeat_not_found.
const AnyNameParams = Fields({ name: Text({ minLength: 1, maxLength: 1_024 }) })

const HeartbeatBody = Fields({
  every_seconds: Type.Optional(EverySeconds),
  schedule: Type.Optional(Schedule),
  time_zone: Type.Optional(TimeZone),
  grace_seconds: Type.Optional(GraceSeconds),
  max_run_seconds: Type.Optional(MaxRunSeconds),
  severity: Type.Optional(GivenSeverity),
  source: Type.Optional(Source),
})

const decodeBody = decoderOf<Partial<Omit<HeartbeatSettings, 'severity'>> & { readonly severity?: string }>(
  HeartbeatBody,
)

/** Throws `validation_failed`, and `forbidden_variable`: the source becomes that of an alert. */
export function fromHeartbeatBody(body: Static<typeof HeartbeatBody>, now: number): HeartbeatSettings {
  requireAllowedText({ source: body.source })
  requireTimes(body, now)
  const { severity, ...settings } = decodeBody(body)
  return settingsOf(severity === undefined ? settings : { ...settings, severity: parseSeverity(severity) })
}

function requireTimes(
  { every_seconds, schedule, time_zone }: Static<typeof HeartbeatBody>,
  now: number,
): void {
  if (schedule === undefined) {
    if (every_seconds === undefined)
      throw invalidField('every_seconds', 'required_one_of', { field: 'schedule' })
    if (time_zone !== undefined) throw invalidField('time_zone', 'left_out_without', { field: 'schedule' })
    return
  }
  requireSchedule(schedule, time_zone ?? 'UTC', now)
  if (every_seconds !== undefined) throw invalidField('every_seconds', 'left_out_with', { field: 'schedule' })
}

function parseSeverity(text: string): FiringSeverity {
  const name = text.toUpperCase()
  const severity = FIRING_SEVERITIES.find((each) => each === name)
  if (!severity) throw invalidField('severity', 'not_in_list', { allowed: FIRING_SEVERITIES })
  return severity
}

const WRITERS = {
  status: (each: AlertHeartbeat) => statusOf(each),
  every_seconds: (each: AlertHeartbeat) => (each.schedule === null ? each.everySeconds : null),
}

export const encodeHeartbeat = encoderOf(HeartbeatSchema, WRITERS)
const encodePing = encoderOf(PingSchema)
const textOf = bodyWriter(encodeHeartbeat)

/** A heartbeat, and its address for pings; null where that is not shown. */
const textWithUrl = bodyWriter(
  encoderOf(HeartbeatWithUrl, {
    ...WRITERS,
    ping_url: ({ pingUrl }: AlertHeartbeat & { pingUrl: string | null }) => pingUrl,
  }),
)
