import type { BusFault } from '../../kernel/bus.ts'
import { eventSource, type EventAttributes } from '../../kernel/events.ts'
import type { AlertTable } from '../../kernel/alerts.ts'
import type { SentenceCause } from '../../kernel/errors.ts'
import { DAY, toRfc3339 } from '../../kernel/time.ts'

/** `pending`: not yet confirmed by the bus. `dead`: permanently refused by the bus. */
export const MESSAGE_STATUSES = ['pending', 'delivered', 'dead'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

export interface Message {
  readonly id: string
  readonly subject: string
  /** JSON text, as it is sent on the bus. */
  readonly payload: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: MessageStatus
  /** How often it was sent. */
  readonly attempts: number
  readonly lastError: string | null
  /** The cause of `lastError`, if the platform knows it. */
  readonly cause: SentenceCause<BusFault> | null
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly deliveredAt: number | null
  /** The trace of the request that published it (`storedTrace`); null in an event, whose payload has it. */
  readonly trace: string | null
}

/** A message that a user publishes; it is sent unchanged. */
export interface NewMessage {
  readonly subject: string
  /** Any JSON value. */
  readonly payload: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** Above these limits other outboxes add no further dead messages (docs/specification.md, Limits). */
export const MAX_DEAD = 10_000
export const MAX_DEAD_BYTES = 512 * 1024 * 1024

type NewMessageContent = Pick<Message, 'id' | 'subject' | 'payload' | 'headers'> &
  Partial<Pick<Message, 'trace'>>

const NOT_SENT = { status: 'pending', attempts: 0, lastError: null, cause: null, deliveredAt: null } as const

/** A new pending message. */
export function newMessage(content: NewMessageContent, createdAt: number): Message {
  return { trace: null, ...content, ...NOT_SENT, createdAt }
}

/** A message that the bus has refused at its first attempt. */
export function newDeadMessage(
  content: NewMessageContent,
  createdAt: number,
  failure: Pick<Message, 'lastError' | 'cause'>,
): Message {
  return { ...newMessage(content, createdAt), status: 'dead', attempts: 1, ...failure }
}

/** Whether a payload is an event of this message. A user cannot forge one, because the id is assigned later. */
export function isEventPayload(message: Pick<Message, 'id' | 'payload'>): boolean {
  return message.payload.startsWith(eventBegin(message))
}

/** The text with which the payload of an event begins. */
export function eventBegin({ id }: Pick<Message, 'id'>): string {
  return `{"specversion":"1.0","id":"${id}",`
}

/**
 * Whether a message is an event that this domain wrote. A message of a user never is one: see {@link isEventPayload}.
 */
export function isEventOf(domain: string, { id, payload }: Pick<Message, 'id' | 'payload'>): boolean {
  const event = JSON.parse(payload) as Partial<EventAttributes> | null
  return event?.id === id && event.source === eventSource(domain)
}

/** The alerts of messages, for `docs/reference/alerts.md`. */
export const MESSAGE_ALERTS = {
  'bus.emptied': {
    severities: ['ERROR'],
    raisedBy:
      'The stream of the bus lacks messages that the bus has confirmed: it was made anew, and what the one before it had stored is gone; or the bus had no JetStream for a while.',
    endedBy: 'The messages are sent again with `platform messages replay`.',
    whatToDo:
      'Look why the bus has lost its files (`store_dir` of JetStream), or had no JetStream, then run the command that the alert names.',
    repeatEveryMs: DAY,
  },
  'message.dead:*': {
    severities: ['ERROR'],
    raisedBy: 'The bus refuses a message for good; `*` is its id.',
    endedBy: 'The message is redriven. If the bus refuses it again, the alert is raised again.',
    whatToDo: 'Remove the cause that the alert names, then redrive the message.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** The command that sends again what the bus has lost; without an end until now. */
export function replayCommand({ since, until }: { readonly since: number; readonly until?: number }): string {
  const end = until === undefined ? '' : ` --until ${toRfc3339(until)}`
  return `platform messages replay --since ${toRfc3339(since)}${end}`
}
