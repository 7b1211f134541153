import { parsePage, toPage } from '../../wire/page.ts'
import { ok, route, type Answer, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import {
  fromPublishBody,
  MessagePage,
  MessageQuery,
  MessageSchema,
  PublishBody,
  toMessageWire,
  type MessageWire,
} from './schemas.ts'
import type { Message } from './model.ts'
import type { Messages } from './service.ts'

const READERS = ['admin', 'devops', 'auditor', 'service'] as const

/** contract, section 3: Operations */
export function messageRoutes(messages: Messages): Route[] {
  return [
    route({
      method: 'GET',
      path: '/messages',
      operation: 'listMessages',
      tag: 'Messages',
      summary: 'List messages, newest first',
      access: READERS,
      query: MessageQuery,
      answers: { 200: { description: 'A page of messages.', schema: MessagePage } },
      handle: async ({ query }) => ok(toPage(await messages.list(query, parsePage(query)), toMessageWire)),
    }),
    route({
      method: 'GET',
      path: '/messages/:id',
      operation: 'getMessage',
      tag: 'Messages',
      summary: 'Read one message',
      access: READERS,
      params: IdParams,
      answers: { 200: { description: 'The message.', schema: MessageSchema } },
      errors: ['message_not_found'],
      handle: async ({ params }) => ok(toMessageWire(await messages.get(params.id))),
    }),
    route({
      method: 'POST',
      path: '/messages/publish',
      operation: 'publishMessage',
      tag: 'Messages',
      summary: 'Publish a message on the bus',
      description:
        'It is persisted first. `delivered` means that the bus has confirmed it; a `pending` one goes out later.',
      access: ['admin', 'service'],
      body: PublishBody,
      answers: { 202: { description: 'The message as it is now.', schema: MessageSchema } },
      errors: ['idempotency_key_reused'],
      handle: async ({ body }) => accepted(await messages.publish(fromPublishBody(body))),
      finish: async ({ body }) => accepted(await messages.awaitDelivery((body as MessageWire).id)),
    }),
    route({
      method: 'POST',
      path: '/messages/:id/redrive',
      operation: 'redriveMessage',
      tag: 'Messages',
      summary: 'Send a dead message once more',
      access: ['admin', 'devops'],
      params: IdParams,
      answers: { 200: { description: 'The message, pending again.', schema: MessageSchema } },
      errors: ['message_not_found', 'invalid_transition', 'idempotency_key_reused'],
      handle: async ({ params }) => ok(toMessageWire(await messages.redrive(params.id))),
    }),
  ]
}

function accepted(message: Message): Answer {
  return { status: 202, body: toMessageWire(message) }
}
