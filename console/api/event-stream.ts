import type { StreamEvent } from '../../clients/typescript/src/event-stream.ts'
import type { Schemas } from '../../clients/typescript/src/generated.ts'
import { EVENT_SCHEMAS } from './generated.ts'

/** One event of `GET /events`. */
export interface LiveEvent {
  /** The subject on the bus, such as `order.paid`, or `reset`. */
  readonly subject: string
  /** The object as the API shows it: `data` of the envelope (CloudEvents 1.0). */
  readonly data: unknown
}

const SCHEMAS: Readonly<Record<string, keyof Schemas>> = EVENT_SCHEMAS

/** Finds the object of this schema that an event is about. */
export const eventObject =
  <Name extends keyof Schemas>(schema: Name) =>
  ({ subject, data }: LiveEvent): Schemas[Name] | null =>
    SCHEMAS[subject] === schema ? (data as Schemas[Name]) : null

export function liveEventOf({ event, data }: StreamEvent): LiveEvent {
  return { subject: event, data: dataOf(data) }
}

function dataOf(text: string): unknown {
  try {
    const envelope: unknown = JSON.parse(text)
    return typeof envelope === 'object' && envelope !== null && 'data' in envelope ? envelope.data : null
  } catch {
    return null
  }
}
