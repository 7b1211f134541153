import type { StreamEvent } from './event-stream.ts'
import type { FollowOptions, FollowRequest } from './follow.ts'

/** CloudEvents 1.0, as on the bus. */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  /** `/platform/orders` */
  readonly source: string
  /** The subject on the bus: `order.paid`. */
  readonly type: string
  /** The id of the object. */
  readonly subject: string
  readonly time: string
  readonly datacontenttype: string
  /** The object as the API shows it. */
  readonly data: unknown
}

/** `reset`: events were missed; read the present state, and go on. */
export type PlatformEvent =
  | { readonly kind: 'event'; readonly id: string; readonly subject: string; readonly envelope: CloudEvent }
  | { readonly kind: 'reset'; readonly id: string }

export interface EventsRequest extends FollowOptions {
  /** Exact (`order.paid`), or with `*` at the end. Default: all that the caller may read. */
  readonly subjects?: readonly string[] | undefined
  /** The `id` of the last event that was handled: the stream goes on behind it. Default: it begins now. */
  readonly lastEventId?: string | undefined
  /** Ends the stream; its reason is the error of the loop. */
  readonly signal?: AbortSignal | undefined
}

export function toFollowRequest(request: EventsRequest): FollowRequest {
  const { subjects, lastEventId, ...others } = request
  return { ...others, query: { subjects: subjects?.join(',') }, headers: { 'Last-Event-ID': lastEventId } }
}

export async function* platformEvents(
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<PlatformEvent, void> {
  for await (const { id, event, data } of events) {
    if (event === 'reset') yield { kind: 'reset', id }
    else yield { kind: 'event', id, subject: event, envelope: JSON.parse(data) as CloudEvent }
  }
}
