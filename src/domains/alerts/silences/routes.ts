import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../../kernel/alerts.ts'
import { invalidField } from '../../../kernel/errors.ts'
import { JsonText } from '../../../kernel/text.ts'
import { END_OF_DAY, isTimeZone, WEEKDAYS, type TimeSpan, type WeeklyHours } from '../../../kernel/time.ts'
import { bodyWriter, decoderOf, encoderOf, parseTime } from '../../../wire/codec.ts'
import { SHARED_ERRORS } from '../../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedPageQuery } from '../../../wire/page.ts'
import { created, ok, routeOf, type Route } from '../../../wire/route.ts'
import { Fields, Id, IdParams, Nullable, OneOf, Text, Timestamp, Version } from '../../../wire/schemas.ts'
import { ALERT_ERRORS } from '../routes.ts'
import { ALERT_OPERATORS } from '../model.ts'
import { SHOWN_WINDOWS, SILENCE_STATES, type NewSilence } from './model.ts'
import type { Silences, SilenceView } from './service.ts'

const route = routeOf('Alerts')

/** The roles that may read silences, and that get their events. */
export const SILENCE_READERS = ['admin', 'devops', 'auditor'] as const

const { silence_not_found } = ALERT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function silenceRoutes(silences: Silences): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/silences',
      operation: 'createSilence',
      summary: 'Silence alerts for some time',
      description:
        'Notifications of the matching alerts are suppressed from `starts_at` until `ends_at`; with `repeat` only in its hours ' +
        'between these times. The alerts are stored and listed as ever. When the silence or one of its windows ends, alerts that still ' +
        'fire and were never notified are notified.',
      access: ALERT_OPERATORS,
      body: NewSilenceBody,
      answers: { 201: { description: 'The new silence.', schema: SilenceSchema } },
      errors: { forbidden_variable },
      prepare: ({ body }) => newSilenceOf(body),
      audit: { kind: 'silence' },
      change: async (tx, { identity }, wanted) => {
        const silence = await silences.create(tx, wanted, identity.id)
        return created('/alerts/silences', silence.id, textOf(silence))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/silences',
      operation: 'listSilences',
      summary: 'List silences, newest first',
      access: SILENCE_READERS,
      query: SilenceQuery,
      answers: { 200: { description: 'A page of silences.', schema: PageOf(SilenceSchema) } },
      read: async ({ query }) =>
        ok(encodePage(await silences.list(query.state, parsePage(query)), encodeSilence)),
    }),
    route({
      method: 'GET',
      path: '/alerts/calendar',
      operation: 'getSilenceCalendar',
      summary: 'List the windows of silences in one week, the earliest first',
      description:
        'Each window of a silence that repeats is an item. If more than 50 silences are in the week, only the newest 50 are listed.',
      access: SILENCE_READERS,
      query: CalendarQuery,
      answers: { 200: { description: 'The windows.', schema: Calendar } },
      read: async ({ query: { from } }) => {
        const windows = await silences.calendar(parseTime('from', from))
        return ok(new JsonText(`{"windows":[${windows.map(encodeWindow).join(',')}]}`))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/silences/:id',
      operation: 'getSilence',
      summary: 'Read one silence',
      access: SILENCE_READERS,
      params: IdParams,
      answers: { 200: { description: 'The silence, with its next windows.', schema: SilenceWithWindows } },
      errors: { silence_not_found },
      read: async ({ params }) => {
        const silence = await silences.get(params.id)
        return ok(textWithWindows({ ...silence, windows: silences.windows(silence) }))
      },
    }),
    route({
      method: 'DELETE',
      path: '/alerts/silences/:id',
      operation: 'endSilence',
      summary: 'End a silence now',
      description: 'A silence that has ended stays as it is.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 204: { description: 'The silence has ended.' } },
      errors: { silence_not_found },
      audit: { kind: 'silence', before: async (tx, { params }) => textOf(await silences.get(params.id, tx)) },
      change: async (tx, { params, identity }) => {
        await silences.end(tx, params.id, identity.id)
        return { status: 204 }
      },
    }),
  ]
}

const Pattern = (maxLength: number, example: string) =>
  Type.Optional(Text({ minLength: 1, maxLength, examples: [example] }))

const MATCHERS = {
  source: Pattern(128, 'platform.backup*'),
  alarm_id: Pattern(128, 'backup.failed'),
  server_addr: Pattern(256, '192.0.2.10'),
  title: Pattern(256, 'Backup failed'),
}
const GivenMatchers = Type.Object(MATCHERS, {
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 4,
  description: 'At least one; each is an exact text, or a prefix that ends in `*`. All of them must match.',
})

const TimeOfDay = (description: string, example: string) =>
  Type.String({
    pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
    patternFault: ['wrong_type', { expected: 'a time of the day such as 02:00' }],
    maxLength: 5,
    description,
    examples: [example],
  })
const Repeat = Fields({
  days: Type.Array(OneOf(WEEKDAYS), {
    minItems: 1,
    maxItems: WEEKDAYS.length,
    uniqueItems: true,
    description: 'The days on which the hours begin.',
    examples: [['sat', 'sun']],
  }),
  from: TimeOfDay('`HH:MM`; if the clock skips it, the first moment after it.', '02:00'),
  to: TimeOfDay('`HH:MM`, of the next day if it is before `from`; `24:00` is the end of the day.', '06:00'),
  time_zone: Text({
    minLength: 1,
    maxLength: 64,
    description: 'The time zone of `from` and `to`.',
    examples: ['Europe/Berlin'],
  }),
})

const LabelMatchers = Type.Array(
  Fields({
    name: Type.String({ description: 'The name of a label of an alert.' }),
    value: Type.String({ description: 'A text, or a regular expression (RE2) of the whole value.' }),
    is_regex: Type.Boolean(),
    is_equal: Type.Boolean({ description: '`false` inverts the matcher.' }),
  }),
)
// Without an example: what is allowed depends on the time of the request.
const Time = (description: string) => Type.String({ format: 'date-time', maxLength: 64, description })
const Reason = Text({ minLength: 1, maxLength: 1_024, examples: ['Planned maintenance'] })

export const SilenceSchema = Fields(
  {
    id: Id,
    matchers: Fields(MATCHERS, {
      description: 'All of them must match. Empty for one with `label_matchers` alone.',
    }),
    reason: Reason,
    starts_at: Timestamp,
    ends_at: Timestamp,
    repeat: Nullable<Static<typeof Repeat>>({
      ...Repeat,
      description: 'When it is active between its start and its end; null for always.',
    }),
    label_matchers: Nullable<Static<typeof LabelMatchers>>({
      ...LabelMatchers,
      description:
        'The matchers of a silence that a client of Alertmanager has created; all of them must match.',
    }),
    state: OneOf(
      SILENCE_STATES,
      '`active` silences alerts now, `pending` begins later or again, `ended` is over.',
    ),
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    ended_by: Nullable<string>({
      type: 'string',
      description: 'Id of the caller who ended it, or `worker`; null until its end is recorded.',
    }),
    version: Version,
  },
  { $id: 'Silence' },
)

const SilenceWithWindows = Fields(
  {
    ...SilenceSchema.properties,
    windows: Type.Array(Fields({ starts_at: Timestamp, ends_at: Timestamp }), {
      maxItems: SHOWN_WINDOWS,
      description: `When it is active: the next ${SHOWN_WINDOWS}, the current one first.`,
    }),
  },
  { $id: 'SilenceWithWindows' },
)

const SilenceQuery = Fields({
  state: Type.Optional(OneOf(SILENCE_STATES, 'Only silences in this state.')),
  ...TimedPageQuery,
})

const CalendarQuery = Fields({
  from: Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'The beginning of the week: RFC 3339 with any offset.',
    examples: ['2026-01-26T00:00:00Z'],
  }),
})

const WindowSchema = Fields({
  silence_id: Id,
  reason: Type.String({ description: 'The first 120 characters.', examples: ['Planned maintenance'] }),
  starts_at: Timestamp,
  ends_at: Timestamp,
})

const Calendar = Fields({ windows: Type.Array(WindowSchema) })

const encodeWindow = encoderOf(WindowSchema)

const NewSilenceBody = Fields({
  matchers: GivenMatchers,
  reason: Reason,
  starts_at: Type.Optional(Time('RFC 3339 with any offset; now when left out.')),
  ends_at: Type.Optional(
    Time(
      'RFC 3339 with any offset; in the future. Without `repeat` it is required, and at most 30 days after `starts_at`; with ' +
        '`repeat` at most 366 days after it, which is the default.',
    ),
  ),
  repeat: Type.Optional(Repeat),
})

const decodeNewSilence = decoderOf<NewSilence>(NewSilenceBody)

/** Throws `forbidden_variable`, and `validation_failed` for a time that does not exist. */
function newSilenceOf(body: Static<typeof NewSilenceBody>): NewSilence {
  const { source, alarm_id, server_addr, title } = body.matchers
  requireAllowedText({
    reason: body.reason,
    'matchers.source': source,
    'matchers.alarm_id': alarm_id,
    'matchers.server_addr': server_addr,
    'matchers.title': title,
  })
  const wanted = decodeNewSilence(body)
  if (wanted.repeat) requireHours(wanted.repeat)
  return wanted
}

function requireHours({ from, to, timeZone }: WeeklyHours): void {
  if (from === END_OF_DAY) throw invalidField('repeat.from', 'wrong_type', { expected: 'before 24:00' })
  if (from === to) throw invalidField('repeat.to', 'same_as', { field: 'repeat.from' })
  if (!isTimeZone(timeZone)) throw invalidField('repeat.time_zone', 'not_a_time_zone')
}

/** The silence in responses, pages and events. */
export const encodeSilence: (silence: SilenceView) => string = encoderOf(SilenceSchema)
const textOf = bodyWriter(encodeSilence)

const textWithWindows: (silence: SilenceView & { readonly windows: readonly TimeSpan[] }) => JsonText =
  bodyWriter(encoderOf(SilenceWithWindows))
