import { bodyWriter } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import type { EventSubjects } from '../../kernel/event-subjects.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { bodyOf, ok, route, type Answer, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import type { Message } from './model.ts'
import {
  encodeMessage,
  fromPublishBody,
  MessagePage,
  MessageQuery,
  MessageSchema,
  PublishBody,
} from './schemas.ts'
import type { Messages } from './service.ts'

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
      tag: 'Messages',
      summary: 'List messages, newest first',
      description: VISIBLE,
      access: READERS,
      query: MessageQuery,
      answers: { 200: { description: 'A page of messages.', schema: MessagePage } },
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
      tag: 'Messages',
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
      tag: 'Messages',
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
        return accepted(await messages.publish(tx, fromPublishBody(body)))
      },
      async updateAnswer(answer) {
        const { id } = bodyOf(answer) as { id: string }
        const message = await messages.awaitDelivery(id)
        return message ? { ...answer, ...accepted(message) } : answer
      },
    }),
    route({
      method: 'POST',
      path: '/messages/:id/redrive',
      operation: 'redriveMessage',
      tag: 'Messages',
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

function accepted(message: Message): Answer {
  return { status: 202, body: textOf(message) }
}
