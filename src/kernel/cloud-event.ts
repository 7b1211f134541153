import { createHash } from 'node:crypto'

/** Attributes of a CloudEvents 1.0 event in structured mode (docs/specification.md, Events). */
export interface EventAttributes {
  readonly id: string
  /** `/platform/<domain>` */
  readonly source: string
  readonly type: string
  readonly subject: string
  /** RFC 3339 */
  readonly time: string
}

/** The source of a domain's events. */
export function eventSource(domain: string): string {
  return `/platform/${domain}`
}

/** The headers of every event on the bus. */
export const EVENT_HEADERS = { 'content-type': 'application/cloudevents+json; charset=utf-8' } as const

/** The event as JSON; `data` is JSON text. */
export function toCloudEvent({ id, source, type, subject, time }: EventAttributes, data: string): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
  }
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${data}}`
}

/** What an event is about, as a short text: the same for the same source and subject. */
export function eventThing(source: string, subject = ''): string {
  return createHash('sha256').update(`${source}\0${subject}`).digest('base64url')
}
