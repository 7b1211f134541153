import { JsonText } from '../../kernel/json-text.ts'

/** `pending`: not confirmed by the bus yet. `dead`: the bus will never take it as it is. */
export const MESSAGE_STATUSES = ['pending', 'delivered', 'dead'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

export interface Message {
  readonly id: string
  readonly subject: string
  /** JSON text, as it goes out on the bus. */
  readonly payload: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: MessageStatus
  /** How often it was sent without a confirmation, the last one included. */
  readonly attempts: number
  readonly lastError: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly deliveredAt: number | null
}

/** A message of a user's own, which goes out as it is. */
export interface NewMessage {
  readonly subject: string
  /** Any JSON value. */
  readonly payload: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** An event of a domain: what happened (`type`, which is also the bus subject), to what, and how that thing is now. */
export interface DomainEvent {
  readonly type: string
  readonly subject: string
  /** Any JSON value, or one that is written already. */
  readonly data: unknown
}

/** Attributes of a CloudEvents 1.0 event in structured mode (contract, section 4). */
export interface EventEnvelope {
  readonly id: string
  /** `/platform/<module>` */
  readonly source: string
  /** RFC 3339 */
  readonly time: string
}

export const EVENT_HEADERS = { 'content-type': 'application/cloudevents+json; charset=utf-8' } as const

export function toCloudEvent(
  { id, source, time }: EventEnvelope,
  { type, subject, data }: DomainEvent,
): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
  }
  const text = data instanceof JsonText ? data.text : JSON.stringify(data)
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${text}}`
}
