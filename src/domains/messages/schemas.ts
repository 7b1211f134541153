import { Type, type Static } from 'typebox'
import { BUS_FAULTS } from '../../kernel/bus.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import {
  CauseOf,
  checked,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Timestamp,
} from '../../wire/schemas.ts'
import { MESSAGE_STATUSES, type Message, type NewMessage } from './model.ts'

// Tokens of visible characters separated by dots, without the wildcards of subscriptions; `$` is reserved by the server.
const TOKEN = '[^\\s.*>\\u0000-\\u0020\\u007f\\uD800-\\uDFFF]+'
const SUBJECT = `^(?!\\$)${TOKEN}(?:\\.${TOKEN})*$`

const DOCUMENTED_TOKEN = '[^\\s.*>\\x00-\\x20\\x7f]+'
const DOCUMENTED_SUBJECT = `^[^$\\s.*>\\x00-\\x20\\x7f][^\\s.*>\\x00-\\x20\\x7f]*(?:\\.${DOCUMENTED_TOKEN})*$`

const Status = OneOf(MESSAGE_STATUSES, 'Whether the bus has confirmed it.')
const Subject = Type.String({
  ...checked(SUBJECT, DOCUMENTED_SUBJECT, 'not_a_subject'),
  maxLength: 255,
  description: 'One subject: tokens separated by dots, no wildcards, not beginning with `$`.',
  examples: ['shop.opened'],
})
// NATS sends headers as lines, and interprets names that begin with `Nats-`. A name of 1 to 64 characters leaves that
// beginning at one of them, or ends before: RE2 has no look-ahead, and the document shows this pattern to every client.
const HEADER_NAME = `^(?:${[
  '[A-MO-Za-mo-z0-9_-][A-Za-z0-9_-]{0,63}',
  '[Nn](?:[B-Zb-z0-9_-][A-Za-z0-9_-]{0,62})?',
  '[Nn][Aa](?:[A-SU-Za-su-z0-9_-][A-Za-z0-9_-]{0,61})?',
  '[Nn][Aa][Tt](?:[A-RT-Za-rt-z0-9_-][A-Za-z0-9_-]{0,60})?',
  '[Nn][Aa][Tt][Ss](?:[A-Za-z0-9_][A-Za-z0-9_-]{0,59})?',
].join('|')})$`
const Headers = Type.Record(
  Type.String({ pattern: HEADER_NAME }),
  Type.String({ maxLength: 1_024, pattern: '^[\\t\\x20-\\x7e]*$', patternFault: ['not_a_header_value'] }),
  {
    maxProperties: 32,
    additionalProperties: false,
    nameFault: ['not_a_header_name'],
    description: 'Headers of the bus message.',
  },
)
const Payload = Type.Unknown({ description: 'Any JSON value.' })

export const MessageSchema = Fields(
  {
    id: Id,
    subject: Type.String(),
    payload: Payload,
    headers: Type.Record(Type.String(), Type.String()),
    status: Status,
    attempts: Type.Integer({ description: 'How often it was sent.' }),
    last_error: Nullable<string>({ type: 'string', description: 'Why the last attempt failed.' }),
    cause: CauseOf(BUS_FAULTS, 'what `last_error` says.'),
    created_at: Timestamp,
    delivered_at: NullableTimestamp,
  },
  { $id: 'Message' },
)

export const MessagePage = PageOf(MessageSchema)

export const PublishBody = Fields({ subject: Subject, payload: Payload, headers: Type.Optional(Headers) })

export const MessageQuery = Fields({
  status: Type.Optional(Status),
  subject: Type.Optional(Subject),
  ...TimedPageQuery,
})

export const encodeMessage = encoderOf(MessageSchema, {
  payload: ({ payload }: Message) => new JsonText(payload),
})

export function fromPublishBody({ subject, payload, headers = {} }: Static<typeof PublishBody>): NewMessage {
  return { subject, payload, headers }
}
