import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../kernel/alerts.ts'
import { invalidField } from '../../kernel/errors.ts'
import { NEWEST_FIRST, OLDEST_FIRST, type PageOrder } from '../../kernel/page.ts'
import type { Tx } from '../../store/store.ts'
import { bodyWriter, encoderOf } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedPageQuery } from '../../wire/page.ts'
import { created, ok, routeOf, type Route } from '../../wire/route.ts'
import {
  CauseOf,
  ContainedText,
  Fields,
  Id,
  IdParams,
  Nullable,
  NullableTimestamp,
  OneOf,
  SeveralOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import {
  ALERT_OPERATORS,
  ALERT_READERS,
  ALERT_REPORTERS,
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
import type { Alerts } from './service.ts'
import { MOST_SEVERE_FIRST, reportedRows, type AlertFilter } from './store.ts'
import { alarmIdIn, weightIn } from './text.ts'
import { NOTE_CAUSES } from './transitions.ts'

const route = routeOf('Alerts')

export const ALERT_ERRORS = {
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  receiver_not_found: { status: 404, meaning: 'No receiver of that name is configured.' },
  silence_not_found: { status: 404, meaning: 'There is no such silence.' },
} as const satisfies ErrorCodes

const { alert_not_found } = ALERT_ERRORS
const { forbidden_variable, invalid_transition } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function alertRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/report',
      operation: 'reportAlert',
      summary: 'Report an alert',
      description:
        'An alert is identified by its `alarm_id`, else by source, title and server address. A report of a firing ' +
        'alert increments its count, one of a recovered alert makes it fire again; `CLOSE`, level 5 or weight 0 ' +
        'recover it.',
      access: ALERT_REPORTERS,
      body: ReportBody,
      answers: {
        201: { description: 'The new alert.', schema: AlertSchema },
        200: { description: 'The existing alert, after this report.', schema: AlertSchema },
      },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromReportBody(body),
      touches: (_request, report) => reportedRows(report),
      change: async (tx, { identity }, report) => {
        const { alert, outcome } = await alerts.report(tx, report, identity.id)
        return outcome === 'new' ? created('/alerts', alert.id, textOf(alert)) : ok(textOf(alert))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts',
      operation: 'listAlerts',
      summary: 'List alerts, newest first or by their severity',
      description:
        '`level` filters by severity if it is a name, and by internal level if it is a number; such a list is always newest first.',
      access: ALERT_READERS,
      query: AlertQuery,
      answers: { 200: { description: 'A page of alerts.', schema: PageOf(AlertSchema) } },
      read: async ({ query }) =>
        ok(encodePage(await alerts.list(filterOf(query), parsePage(query, orderOf(query))), encodeAlert)),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id',
      operation: 'getAlert',
      summary: 'Read one alert',
      access: ALERT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The alert.', schema: AlertSchema } },
      errors: { alert_not_found },
      read: async ({ params }) => ok(textOf(await alerts.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id/history',
      operation: 'getAlertHistory',
      summary: 'The changes of one alert, oldest first',
      description:
        'Every change of its status, and every increase of its weight. Repeated reports are not listed.',
      access: ALERT_READERS,
      params: IdParams,
      query: Fields(TimedPageQuery),
      answers: {
        200: {
          description: 'A page of changes, from the first report on.',
          schema: PageOf(HistoryEntrySchema),
        },
      },
      errors: { alert_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await alerts.history(params.id, parsePage(query, OLDEST_FIRST)), encodeHistoryEntry)),
    }),
    ...operatorRoutes(alerts),
  ]
}

function operatorRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/:id/recover',
      operation: 'recoverAlert',
      summary: 'Declare an alert recovered',
      description: 'This also ends a freeze. An alert that is already recovered stays unchanged.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The alert, recovered.', schema: AlertSchema } },
      errors: { alert_not_found },
      audit: auditRule(alerts),
      change: async (tx, { params, identity }) =>
        ok(textOf(await alerts.recover(tx, params.id, identity.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      operation: 'acknowledgeAlert',
      summary: 'Acknowledge a firing alert',
      description:
        'Its notifications are suppressed until the acknowledgement lapses (`alerts.acknowledge_for`), it is reported ' +
        'with a higher weight, or it recovers. An alert that is already acknowledged stays unchanged.',
      access: ALERT_OPERATORS,
      params: IdParams,
      body: AcknowledgementBody,
      isBodyOptional: true,
      answers: { 200: { description: 'The alert, acknowledged.', schema: AlertSchema } },
      errors: { alert_not_found, forbidden_variable, invalid_transition },
      prepare: ({ body }) => fromAcknowledgementBody(body),
      audit: auditRule(alerts),
      change: async (tx, { params, identity }, comment) =>
        ok(textOf(await alerts.acknowledge(tx, params.id, comment, identity.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/unfreeze',
      operation: 'unfreezeAlert',
      summary: 'End the freeze of an alert',
      description: 'The alert then has the state of its last report, and its swings are deleted.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The alert, not frozen.', schema: AlertSchema } },
      errors: { alert_not_found, invalid_transition },
      audit: auditRule(alerts),
      change: async (tx, { params, identity }) =>
        ok(textOf(await alerts.unfreeze(tx, params.id, identity.id))),
    }),
  ]
}

/** The alert of the path before and after the change. */
function auditRule(alerts: Alerts) {
  return {
    kind: 'alert',
    before: async (tx: Tx, { params }: { readonly params: Static<typeof IdParams> }) =>
      textOf(await alerts.get(params.id, tx)),
  }
}

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
    alarm_id: Nullable<string>(AlarmId),
    source: Source,
    title: Title,
    body: Body,
    level: Level,
    weight: Weight,
    severity: OneOf(SEVERITIES, 'Name of the weight.'),
    server_addr: Nullable<string>(ServerAddr),
    status: Status,
    count: Type.Integer({
      minimum: 0,
      description: 'How often it was reported as firing since its first report.',
    }),
    first_at: Timestamp,
    last_at: Timestamp,
    recovered_at: NullableTimestamp,
    runbook_url: Nullable<string>(RunbookUrl),
    version: Version,
  },
  { $id: 'Alert' },
)

const ReportBody = Fields({
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

const AlertQuery = Fields({
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
      ['created_at', 'severity'],
      '`created_at` (default): newest first. `severity`: the most severe first, then newest first.',
    ),
  ),
  ...TimedPageQuery,
})

const AcknowledgementBody = Fields({
  comment: Type.Optional(
    Text({ minLength: 1, maxLength: COMMENT_LENGTH, description: 'Shown in the history of the alert.' }),
  ),
})

const HistoryEntrySchema = Fields({
  at: Timestamp,
  from: Nullable<AlertStatus>({ type: 'string', description: 'Null for the first report.' }),
  to: Status,
  weight: Weight,
  actor: Type.String({ description: 'Id of the caller, `platform` for its own alerts, or `worker`.' }),
  note: Nullable<string>({ type: 'string', description: 'A comment, or why the status has changed.' }),
  cause: CauseOf(NOTE_CAUSES, 'what `note` says.'),
})

const encodeHistoryEntry = encoderOf(HistoryEntrySchema)

/** Throws `forbidden_variable`. */
function fromAcknowledgementBody({ comment }: Static<typeof AcknowledgementBody>): string | null {
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

function filterOf({ status, level, source, text }: Static<typeof AlertQuery>): AlertFilter {
  return {
    ...(status && { status }),
    ...(source && { source }),
    ...(text && { text }),
    ...(level !== undefined && parseLevelFilter(level)),
  }
}

/** Alerts of one severity or level are sorted by their age alone. */
function orderOf({ sort, level }: Static<typeof AlertQuery>): PageOrder<'weight' | 'seq'> {
  return sort === 'severity' && level === undefined ? MOST_SEVERE_FIRST : NEWEST_FIRST
}

/** The alert in responses, pages and events. */
export const encodeAlert = encoderOf(AlertSchema, { severity: ({ weight }: AlertView) => severityOf(weight) })
const textOf = bodyWriter(encodeAlert)

function parseLevelFilter(text: string): Pick<AlertFilter, 'level' | 'severity'> {
  return /^[0-5]$/.test(text) ? { level: Number(text) as AlertLevel } : { severity: parseSeverity(text) }
}

function parseSeverity(text: string): Severity {
  const name = text.toUpperCase()
  if (!isSeverity(name)) throw invalidField('level', 'wrong_type', { expected: LEVEL_WORDS })
  return name
}
