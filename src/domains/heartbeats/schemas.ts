import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../kernel/allowed-text.ts'
import { invalidField } from '../../kernel/errors.ts'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import { PathName, Fields, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import {
  HEARTBEAT_SEVERITIES,
  HEARTBEAT_STATUSES,
  settingsOf,
  statusOf,
  type AlertHeartbeat,
  type HeartbeatSeverity,
  type HeartbeatSettings,
} from './model.ts'

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
    every_seconds: EverySeconds,
    grace_seconds: GraceSeconds,
    severity: Severity,
    source: Source,
    status: OneOf(HEARTBEAT_STATUSES, '`waiting` until the first beat.'),
    last_beat_at: NullableTimestamp,
    due_at: Timestamp,
    missed_at: NullableTimestamp,
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    updated_by: Type.String({ description: 'Id of the caller.' }),
    updated_at: Timestamp,
  },
  { $id: 'Heartbeat' },
)

export const HeartbeatPage = PageOf(HeartbeatSchema)

export const HeartbeatQuery = Fields(TimedPageQuery)

export const HeartbeatParams = Fields({ name: Name })

// Any text is accepted where nothing is created: an unknown name is heartbeat_not_found.
export const AnyNameParams = Fields({ name: Text({ minLength: 1, maxLength: 1_024 }) })

export const HeartbeatBody = Fields({
  every_seconds: EverySeconds,
  grace_seconds: Type.Optional(GraceSeconds),
  severity: Type.Optional(GivenSeverity),
  source: Type.Optional(Source),
})

type Given = Pick<HeartbeatSettings, 'everySeconds'> &
  Partial<Omit<HeartbeatSettings, 'severity'>> & { readonly severity?: string }

const decode = decoderOf<Given>(HeartbeatBody)

/** Throws `forbidden_variable`: the source becomes that of an alert. */
export function fromHeartbeatBody(body: Static<typeof HeartbeatBody>): HeartbeatSettings {
  requireAllowedText({ source: body.source })
  const { severity, ...settings } = decode(body)
  return settingsOf(severity === undefined ? settings : { ...settings, severity: parseSeverity(severity) })
}

function parseSeverity(text: string): HeartbeatSeverity {
  const name = text.toUpperCase()
  const severity = HEARTBEAT_SEVERITIES.find((each) => each === name)
  if (!severity) throw invalidField('severity', 'not_in_list', { allowed: HEARTBEAT_SEVERITIES })
  return severity
}

export const encodeHeartbeat = encoderOf(HeartbeatSchema, {
  status: (each: AlertHeartbeat) => statusOf(each),
})
