import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../kernel/alerts.ts'
import { invalidField } from '../../kernel/errors.ts'
import { NEWEST_FIRST, type PageOrder } from '../../kernel/page.ts'
import { encoderOf } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import {
  CauseOf,
  ContainedText,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  SeveralOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import { NOTE_CAUSES } from './transitions.ts'
import {
  ALERT_STATUSES,
  BODY_BYTES,
  COMMENT_LENGTH,
  isRunbookUrl,
  isSeverity,
  RUNBOOK_LENGTH,
  SEVERITIES,
  severityOf,
  textWeightOf,
  TITLE_LENGTH,
  type AlertLevel,
  type AlertStatus,
  type AlertView,
  type AlertWeight,
  type Report,
  type Severity,
} from './model.ts'
import { MOST_SEVERE_FIRST, type AlertFilter } from './store.ts'
import { alarmIdIn, weightIn } from './text.ts'

const LEVEL_WORDS = `one of ${SEVERITIES.join(', ')}, or an internal level from 0 to 5`

const Status = OneOf(ALERT_STATUSES, 'The state of the alert.')
const Source = Text({
  minLength: 1,
  maxLength: 128,
  description: 'The system that reports the alert.',
  examples: ['platform.backup'],
})
const Title = Text({ minLength: 1, maxLength: TITLE_LENGTH, examples: ['Backup failed'] })
const Body = Text({ maxLength: BODY_BYTES, description: 'At most 16 KiB of UTF-8.' })
const ServerAddr = Text({ minLength: 1, maxLength: 256, examples: ['192.0.2.10'] })
const AlarmId = Text({ minLength: 1, maxLength: 128, examples: ['backup.failed'] })
const RunbookUrl = Text({
  minLength: 1,
  maxLength: RUNBOOK_LENGTH,
  description: 'What to do about it: an http or https address.',
  examples: ['https://wiki.example.org/runbooks/backup'],
})
const Level = Type.Unsafe<AlertLevel>({
  type: 'integer',
  minimum: 0,
  maximum: 5,
  description: 'Internal level: 4 is the most severe, 0 is below INFO, 5 means recovered.',
})
const Weight = Type.Unsafe<AlertWeight>({
  type: 'integer',
  minimum: 0,
  maximum: 6,
  description: 'The external standard: 6 is the most severe, 0 means recovered.',
})
// Not an enum, because names are case-insensitive.
const GivenLevel = Type.Unsafe<string | AlertLevel>({
  type: ['string', 'integer'],
  minimum: 0,
  maximum: 5,
  description: `Case-insensitive: ${LEVEL_WORDS}. CLOSE and 5 recover the alert.`,
  examples: ['HIGH', 3],
})

export const AlertSchema = Fields(
  {
    id: Id,
    alarm_id: Nullable<string>({ ...AlarmId }),
    source: Source,
    title: Title,
    body: Body,
    level: Level,
    weight: Weight,
    severity: OneOf(SEVERITIES, 'Name of the weight.'),
    server_addr: Nullable<string>({ ...ServerAddr }),
    status: Status,
    count: Type.Integer({
      minimum: 0,
      description: 'How often it was reported as firing since its first report.',
    }),
    first_at: Timestamp,
    last_at: Timestamp,
    recovered_at: NullableTimestamp,
    runbook_url: Nullable<string>({ ...RunbookUrl }),
    version: Version,
  },
  { $id: 'Alert' },
)

export const AlertPage = PageOf(AlertSchema)

export const ReportBody = Fields({
  source: Source,
  title: Title,
  body: Type.Optional(Body),
  level: Type.Optional(GivenLevel),
  server_addr: Type.Optional(ServerAddr),
  runbook_url: Type.Optional(RunbookUrl),
  weight: Type.Optional(
    Type.Unsafe<AlertWeight>({
      ...Weight,
      description:
        'Default: the weight in the body (`weight=6`, `weight: 6`) if it is not below the level, else that of the level. ' +
        '0 recovers the alert.',
    }),
  ),
  alarm_id: Type.Optional(
    Type.Unsafe<string>({ ...AlarmId, description: 'Default: the alarm id in the body (`alarm_id=…`).' }),
  ),
})

const SORTS = ['created_at', 'severity'] as const

export const AlertQuery = Fields({
  status: Type.Optional(SeveralOf(ALERT_STATUSES, 'Only alerts with this status.')),
  level: Type.Optional(
    Type.String({
      maxLength: 16,
      description: `Case-insensitive: ${LEVEL_WORDS}.`,
      examples: ['CRITICAL', '4'],
    }),
  ),
  source: Type.Optional(Source),
  text: Type.Optional(ContainedText('title, source, `alarm_id` or `server_addr`')),
  sort: Type.Optional(
    OneOf(
      SORTS,
      '`created_at` (default): newest first. `severity`: the most severe first, then newest first.',
    ),
  ),
  ...TimedPageQuery,
})

export const AcknowledgementBody = Fields({
  comment: Type.Optional(
    Text({ minLength: 1, maxLength: COMMENT_LENGTH, description: 'Shown in the history of the alert.' }),
  ),
})

export const AlertHistoryPage = PageOf(
  Fields({
    at: Timestamp,
    from: Nullable<AlertStatus>({ type: 'string', description: 'Null for the first report.' }),
    to: Status,
    weight: Weight,
    actor: Type.String({ description: 'Id of the caller, `platform` for its own alerts, or `worker`.' }),
    note: Nullable<string>({ type: 'string', description: 'A comment, or why the status has changed.' }),
    cause: CauseOf(NOTE_CAUSES, 'what `note` says.'),
  }),
)

export const AlertHistoryQuery = Fields(TimedPageQuery)

export const encodeHistoryEntry = encoderOf(AlertHistoryPage.properties.items.items)

/** Throws `forbidden_variable`. */
export function fromAcknowledgementBody({ comment }: Static<typeof AcknowledgementBody>): string | null {
  requireAllowedText({ comment })
  return comment ?? null
}

/** Throws `forbidden_variable`, or `validation_failed` for a rule that the schema cannot express. */
export function fromReportBody(report: Static<typeof ReportBody>): Report {
  const { source, title, body = '', server_addr, alarm_id, level, runbook_url } = report
  requireAllowedText({ source, title, body, server_addr, alarm_id, runbook_url })
  if (runbook_url !== undefined && !isRunbookUrl(runbook_url))
    throw invalidField('runbook_url', 'invalid', { reason: 'must be an http or https address' })
  if (Buffer.byteLength(body) > BODY_BYTES)
    throw invalidField('body', 'too_many_bytes', { maximum: '16 KiB' })
  const severity = level === undefined || typeof level === 'number' ? level : parseSeverity(level)
  const weight = report.weight ?? textWeightOf(severity, weightIn(body))
  if (severity === undefined && weight === undefined) throw invalidField('level', 'level_required')
  return {
    alarmId: alarm_id ?? alarmIdIn(body) ?? null,
    source,
    title,
    body,
    serverAddr: server_addr ?? null,
    ...(runbook_url !== undefined && { runbookUrl: runbook_url }),
    ...(severity !== undefined && { level: severity }),
    ...(weight !== undefined && { weight }),
  }
}

export function fromAlertQuery({ status, level, source, text }: Static<typeof AlertQuery>): AlertFilter {
  return {
    ...(status && { status }),
    ...(source && { source }),
    ...(text && { text }),
    ...(level !== undefined && parseLevelFilter(level)),
  }
}

/** Alerts of one severity or level are sorted by their age alone. */
export function alertOrder({ sort, level }: Static<typeof AlertQuery>): PageOrder<'weight' | 'seq'> {
  return sort === 'severity' && level === undefined ? MOST_SEVERE_FIRST : NEWEST_FIRST
}

/** The alert in responses, pages and events. */
export const encodeAlert = encoderOf(AlertSchema, { severity: ({ weight }: AlertView) => severityOf(weight) })

function parseLevelFilter(text: string): Pick<AlertFilter, 'level' | 'severity'> {
  return /^[0-5]$/.test(text) ? { level: Number(text) as AlertLevel } : { severity: parseSeverity(text) }
}

function parseSeverity(text: string): Severity {
  const name = text.toUpperCase()
  if (!isSeverity(name)) throw invalidField('level', 'wrong_type', { expected: LEVEL_WORDS })
  return name
}

export const ALERT_ERRORS = {
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  receiver_not_found: { status: 404, meaning: 'No receiver of that name is configured.' },
  silence_not_found: { status: 404, meaning: 'There is no such silence.' },
} as const satisfies ErrorCodes
