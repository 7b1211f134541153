import { createHash } from 'node:crypto'
import { traceHeaders } from './trace.ts'

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

/**
 * The event as JSON; `data` is JSON text. It has the current trace, or that of a row, in the attributes of the extension
 * "Distributed Tracing".
 */
export function toCloudEvent(
  { id, source, type, subject, time }: EventAttributes,
  data: string,
  trace = traceHeaders(),
): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
    ...trace,
  }
  return `${JSON.stringify(attributes).slice(0, -1)}${DATA}${data}}`
}

const DATA = ',"data":'

/** The attributes of an event that {@link toCloudEvent} wrote, without reading its data. */
export function attributesOf(event: string): EventAttributes & Readonly<Record<string, string>> {
  return JSON.parse(`${event.slice(0, event.indexOf(DATA))}}`) as ReturnType<typeof attributesOf>
}

/** The headers of a call that carries such an event: those of its trace. */
export function traceHeadersOfEvent(event: string): Readonly<Record<string, string>> {
  const end = event.indexOf(DATA)
  const at = event.lastIndexOf(TRACEPARENT, end)
  return at === -1 ? {} : (JSON.parse(`{${event.slice(at + 1, end)}}`) as Record<string, string>)
}

// They are the last attributes. A quote inside a value is escaped, so this is never a part of one.
const TRACEPARENT = ',"traceparent":"'

/** What an event is about, as a short text: the same for the same source and subject. */
export function eventThing(source: string, subject = ''): string {
  return createHash('sha256').update(`${source}\0${subject}`).digest('base64url')
}
