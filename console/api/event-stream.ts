import type { StreamEvent } from '../../clients/typescript/src/event-stream.ts'

/** One event of `GET /events`. */
export interface LiveEvent {
  /** The subject on the bus, such as `order.paid`, or `reset`. */
  readonly subject: string
  /** The object as the API shows it: `data` of the envelope (CloudEvents 1.0). */
  readonly data: unknown
}

/** Finds the object that an event is about: that which has this member. */
export const eventObject =
  <T extends object>(member: keyof T & string) =>
  ({ data }: LiveEvent): T | null =>
    typeof data === 'object' && data !== null && member in data ? (data as T) : null

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
