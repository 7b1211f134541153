import { Type, type Static } from 'typebox'
import { encoderOf, parseTime } from '../../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../../wire/page.ts'
import { Fields, Id, Nullable, OneOf, Text, Timestamp } from '../../../wire/schemas.ts'
import { requireAllowedText } from '../../../kernel/allowed-text.ts'
import { SILENCE_STATES, type Matchers, type NewSilence } from './model.ts'
import type { SilenceView } from './service.ts'

const Pattern = (maxLength: number, example: string) =>
  Type.Optional(Text({ minLength: 1, maxLength, examples: [example] }))

const GivenMatchers = Type.Object(
  {
    source: Pattern(128, 'platform.backup*'),
    alarm_id: Pattern(128, 'backup.failed'),
    server_addr: Pattern(256, '192.0.2.10'),
    title: Pattern(256, 'Backup failed'),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 4,
    description: 'At least one; each is an exact text, or a prefix that ends in `*`. All of them must match.',
  },
)
// Without an example: what is allowed depends on the time of the request.
const Time = (description: string) => Type.String({ format: 'date-time', maxLength: 64, description })
const Reason = Text({ minLength: 1, maxLength: 1_024, examples: ['Planned maintenance'] })

export const SilenceSchema = Fields(
  {
    id: Id,
    matchers: GivenMatchers,
    reason: Reason,
    starts_at: Timestamp,
    ends_at: Timestamp,
    state: OneOf(SILENCE_STATES, '`active` silences alerts now, `pending` begins later, `ended` is over.'),
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    ended_by: Nullable<string>({
      type: 'string',
      description: 'Id of the caller who ended it, or `worker`; null until its end is recorded.',
    }),
  },
  { $id: 'Silence' },
)

export const SilencePage = PageOf(SilenceSchema)

export const SilenceQuery = Fields({
  state: Type.Optional(OneOf(SILENCE_STATES, 'Only silences in this state.')),
  ...TimedPageQuery,
})

export const NewSilenceBody = Fields({
  matchers: GivenMatchers,
  reason: Reason,
  starts_at: Type.Optional(Time('RFC 3339 with any offset; now when left out.')),
  ends_at: Time('RFC 3339 with any offset; in the future, and at most 30 days after `starts_at`.'),
})

/** Throws `forbidden_variable`, and `validation_failed` for a time that does not exist. */
export function fromSilenceBody(body: Static<typeof NewSilenceBody>): NewSilence {
  const { matchers, reason, starts_at, ends_at } = body
  const { source, alarm_id: alarmId, server_addr: serverAddr, title } = matchers
  requireAllowedText({
    reason,
    'matchers.source': source,
    'matchers.alarm_id': alarmId,
    'matchers.server_addr': serverAddr,
    'matchers.title': title,
  })
  return {
    matchers: withoutUndefined({ source, alarmId, serverAddr, title }),
    reason,
    ...(starts_at !== undefined && { startsAt: parseTime('starts_at', starts_at) }),
    endsAt: parseTime('ends_at', ends_at),
  }
}

/** The silence in responses, pages and events. */
export const encodeSilence: (silence: SilenceView) => string = encoderOf(SilenceSchema)

function withoutUndefined(matchers: { [Name in keyof Matchers]: string | undefined }): Matchers {
  return Object.fromEntries(Object.entries(matchers).filter(([, pattern]) => pattern !== undefined))
}
