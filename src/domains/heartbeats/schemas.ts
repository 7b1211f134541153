import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../kernel/alerts.ts'
import { invalidField } from '../../kernel/errors.ts'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import {
  PathName,
  Fields,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import {
  HEARTBEAT_SEVERITIES,
  HEARTBEAT_STATUSES,
  PING_KINDS,
  settingsOf,
  statusOf,
  type AlertHeartbeat,
  type HeartbeatSeverity,
  type HeartbeatSettings,
  type Signal,
} from './model.ts'
import { requireSchedule } from './schedule.ts'

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
  description: 'Of the schedule, such as `Europe/Berlin`; UTC by default.',
})
const MaxRunSeconds = Type.Integer({
  minimum: 1,
  maximum: 2_678_400,
  description: 'The longest time from a start to its end.',
  examples: [3_600],
})
const Severity = OneOf(HEARTBEAT_SEVERITIES, 'Severity of the alert of a missed heartbeat.')
// Not an enum, because names are case-insensitive, as the level of a report.
const GivenSeverity = Type.String({
  maxLength: 16,
  description: `Case-insensitive: one of ${HEARTBEAT_SEVERITIES.join(', ')}.`,
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
    schedule: Nullable<string>({ ...Schedule }),
    time_zone: Nullable<string>({ ...TimeZone }),
    grace_seconds: GraceSeconds,
    max_run_seconds: Nullable<number>({ ...MaxRunSeconds }),
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
      description: 'Of the last run with a start and an end.',
    }),
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    updated_by: Type.String({ description: 'Id of the caller.' }),
    updated_at: Timestamp,
    version: Version,
  },
  { $id: 'Heartbeat' },
)

const PingUrl = Nullable<string>({
  type: 'string',
  description:
    'Where the program sends its pings, without any identity; shown this once. A path while `console.url` is unset.',
  examples: ['https://shop.example.org/ping/5f2b9c0e5c3b4a7d8e9f0a1b2c3d4e5f'],
})

export const HeartbeatWithUrl = Fields(
  { ...HeartbeatSchema.properties, ping_url: PingUrl },
  { $id: 'HeartbeatWithUrl' },
)

const PingSchema = Fields(
  {
    at: Timestamp,
    kind: OneOf(PING_KINDS, '`exit` with its code; `done` also for a beat by name.'),
    exit_code: Nullable<number>({ type: 'integer', minimum: 0, maximum: 255 }),
    duration_seconds: Nullable<number>({
      type: 'integer',
      description: 'Of the run that the ping ends, if there was a start.',
    }),
    remote_address: Nullable<string>({ type: 'string', description: 'Null for a beat by name.' }),
    body: Type.String({ description: 'What the program has sent, at most 10,000 bytes.' }),
  },
  { $id: 'HeartbeatPing' },
)

export const PingPage = PageOf(PingSchema)

const PingToken = Text({ minLength: 1, maxLength: 256, description: 'The last part of `ping_url`.' })
export const PingParams = Fields({ token: PingToken })
export const SignalParams = Fields({
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
export function signalOf(word: string): Signal {
  const kind = (['start', 'fail', 'log'] as const).find((each) => each === word)
  return kind ? { kind, exitCode: null } : { kind: 'exit', exitCode: Number(word) }
}

export const HeartbeatPage = PageOf(HeartbeatSchema)

export const HeartbeatQuery = Fields(TimedPageQuery)

export const HeartbeatParams = Fields({ name: Name })

// Any text is accepted where nothing is created: an unknown name is heartbeat_not_found.
export const AnyNameParams = Fields({ name: Text({ minLength: 1, maxLength: 1_024 }) })

export const HeartbeatBody = Fields({
  every_seconds: Type.Optional(EverySeconds),
  schedule: Type.Optional(Schedule),
  time_zone: Type.Optional(TimeZone),
  grace_seconds: Type.Optional(GraceSeconds),
  max_run_seconds: Type.Optional(MaxRunSeconds),
  severity: Type.Optional(GivenSeverity),
  source: Type.Optional(Source),
})

type Given = Partial<Omit<HeartbeatSettings, 'severity'>> & { readonly severity?: string }

const decode = decoderOf<Given>(HeartbeatBody)

/** Throws `validation_failed`, and `forbidden_variable`: the source becomes that of an alert. */
export function fromHeartbeatBody(body: Static<typeof HeartbeatBody>, now: number): HeartbeatSettings {
  requireAllowedText({ source: body.source })
  requireTimes(body, now)
  const { severity, ...settings } = decode(body)
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

function parseSeverity(text: string): HeartbeatSeverity {
  const name = text.toUpperCase()
  const severity = HEARTBEAT_SEVERITIES.find((each) => each === name)
  if (!severity) throw invalidField('severity', 'not_in_list', { allowed: HEARTBEAT_SEVERITIES })
  return severity
}

const WRITERS = {
  status: (each: AlertHeartbeat) => statusOf(each),
  every_seconds: (each: AlertHeartbeat) => (each.schedule === null ? each.everySeconds : null),
}

export const encodeHeartbeat = encoderOf(HeartbeatSchema, WRITERS)

/** A heartbeat, and its address for pings; null where that is not shown. */
export const encodeWithUrl = encoderOf(HeartbeatWithUrl, {
  ...WRITERS,
  ping_url: ({ pingUrl }: AlertHeartbeat & { pingUrl: string | null }) => pingUrl,
})

export const encodePing = encoderOf(PingSchema)
