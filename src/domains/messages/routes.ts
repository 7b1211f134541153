import { Type } from 'typebox'
import { BUS_FAULTS } from '../../kernel/bus.ts'
import type { EventSubjects } from '../../kernel/events.ts'
import { JsonText } from '../../kernel/text.ts'
import { bodyWriter, encoderOf } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage, PageOf, TimedPageQuery } from '../../wire/page.ts'
import { bodyOf, ok, type Answer, type Route, routeOf } from '../../wire/route.ts'
import {
  IdParams,
  CauseOf,
  checkedPattern,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Timestamp,
} from '../../wire/schemas.ts'
import { MESSAGE_STATUSES, type Message } from './model.ts'
import type { Messages } from './service.ts'

const route = routeOf('Messages')

// Tokens of visible characters separated by dots, without the wildcards of subscriptions; `$` is reserved by the server.
const TOKEN = '[^\\s.*>\\u0000-\\u0020\\u007f\\uD800-\\uDFFF]+'
const SUBJECT = `^(?!\\$)${TOKEN}(?:\\.${TOKEN})*$`

const DOCUMENTED_TOKEN = '[^\\s.*>\\x00-\\x20\\x7f]+'
const DOCUMENTED_SUBJECT = `^[^$\\s.*>\\x00-\\x20\\x7f][^\\s.*>\\x00-\\x20\\x7f]*(?:\\.${DOCUMENTED_TOKEN})*$`

const Status = OneOf(MESSAGE_STATUSES, 'Whether the bus has confirmed it.')
const Subject = Type.String({
  ...checkedPattern(SUBJECT, DOCUMENTED_SUBJECT, 'not_a_subject'),
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

const MessageSchema = Fields(
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

const PublishBody = Fields({ subject: Subject, payload: Payload, headers: Type.Optional(Headers) })

const MessageQuery = Fields({
  status: Type.Optional(Status),
  subject: Type.Optional(Subject),
  ...TimedPageQuery,
})

export const encodeMessage = encoderOf(MessageSchema, {
  payload: ({ payload }: Message) => new JsonText(payload),
})

const textOf = bodyWriter(encodeMessage)

const READERS = ['admin', 'devops', 'auditor', 'service'] as const

const VISIBLE =
  'A caller sees the events whose objects it may list, as on the live stream, and the messages of all users.'

export const MESSAGE_ERRORS = {
  message_not_found: { status: 404, meaning: 'There is no such message.' },
  reserved_subject: { status: 403, meaning: 'Only the platform itself publishes on this subject.' },
} as const satisfies ErrorCodes

const { message_not_found, reserved_subject } = MESSAGE_ERRORS
const { invalid_transition } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function messageRoutes(messages: Messages, subjects: EventSubjects): Route[] {
  return [
    route({
      method: 'GET',
      path: '/messages',
      operation: 'listMessages',
      summary: 'List messages, newest first',
      description: VISIBLE,
      access: READERS,
      query: MessageQuery,
      answers: { 200: { description: 'A page of messages.', schema: PageOf(MessageSchema) } },
      read: async ({ query, identity }) => {
        if (query.subject !== undefined) subjects.requireReadable(query.subject, identity)
        const filter = { ...query, hidden: subjects.hiddenFrom(identity) }
        return ok(encodePage(await messages.list(filter, parsePage(query)), encodeMessage))
      },
    }),
    route({
      method: 'GET',
      path: '/messages/:id',
      operation: 'getMessage',
      summary: 'Read one message',
      description: VISIBLE,
      access: READERS,
      params: IdParams,
      answers: { 200: { description: 'The message.', schema: MessageSchema } },
      errors: { message_not_found },
      read: async ({ params, identity }) => {
        const message = await messages.get(params.id)
        subjects.requireReadable(message.subject, identity)
        return ok(textOf(message))
      },
    }),
    route({
      method: 'POST',
      path: '/messages/publish',
      operation: 'publishMessage',
      summary: 'Publish a message on the bus',
      description:
        'The message is stored first. `delivered` means that the bus has confirmed it; `pending` means that it will ' +
        'be sent later.',
      access: ['admin', 'service'],
      body: PublishBody,
      answers: { 202: { description: 'The message as it is now.', schema: MessageSchema } },
      errors: { reserved_subject },
      change: async (tx, { body }) => {
        subjects.requireOpen(body.subject)
        return acceptedAnswer(await messages.publish(tx, { headers: {}, ...body }))
      },
      async updateAnswer(answer) {
        const { id } = bodyOf(answer) as { id: string }
        const message = await messages.awaitDelivery(id)
        return message ? { ...answer, ...acceptedAnswer(message) } : answer
      },
    }),
    route({
      method: 'POST',
      path: '/messages/:id/redrive',
      operation: 'redriveMessage',
      summary: 'Make a dead message pending again',
      access: ['admin', 'devops'],
      params: IdParams,
      answers: { 200: { description: 'The message, pending again.', schema: MessageSchema } },
      errors: { message_not_found, invalid_transition },
      audit: { kind: 'message' },
      change: async (tx, { params, identity }) => {
        const message = await messages.redrive(tx, params.id)
        subjects.requireReadable(message.subject, identity)
        return ok(textOf(message))
      },
    }),
  ]
}

function acceptedAnswer(message: Message): Answer {
  return { status: 202, body: textOf(message) }
}
