import { SECOND } from '../../kernel/time.ts'
import type { LoggedEvent } from '../../ports/event-log.ts'
import { encodeComment, encodeServerSentEvent } from '../../wire/event-stream.ts'
import type { StreamOutput } from '../../wire/stream.ts'
import { formatPlaces, type Places, type Subscription } from './model.ts'

/** Why a stream cannot continue where its client stopped. */
export type ResetReason = 'unreadable' | 'removed'

// docs/specification.md, Live stream
const MAX_UNREAD_BYTES = 1_048_576
const MAX_DRAIN_MS = 30 * SECOND

/** An event as it is sent. */
export interface EncodedEvent {
  readonly subject: string
  readonly text: string
}

/** Encodes the events of one log. The id of an event is `places`, with the place of the event for this log. */
export function encodeEvents(
  events: readonly LoggedEvent[],
  places: Places,
  log: number,
): readonly EncodedEvent[] {
  return events.map(({ place, subject, payload }) => ({
    subject,
    text: encodeServerSentEvent({
      id: formatPlaces(places.with(log, place)),
      event: subject,
      data: payload,
    }),
  }))
}

/** One stream: its subscription, its places while it catches up, and its client. */
export class EventReader {
  readonly subscription: Subscription
  readonly #output: StreamOutput
  #places: Places

  constructor(subscription: Subscription, places: Places, output: StreamOutput) {
    this.subscription = subscription
    this.#places = places
    this.#output = output
  }

  /** How far the reader has caught up with the feed; not updated after it has joined the feed. */
  get places(): Places {
    return this.#places
  }

  get isOver(): boolean {
    return this.#output.isOver
  }

  get over(): StreamOutput['over'] {
    return this.#output.over
  }

  /** Sends the current id, so that a client can also resume before it has received an event. */
  begin(): void {
    this.#output.write(encodeComment(formatPlaces(this.#places)))
  }

  /** Continues at these places, and tells the client that it may have missed events. */
  reset(places: Places, reason: ResetReason): void {
    this.#places = places
    const data = JSON.stringify({ reason })
    this.#output.write(encodeServerSentEvent({ id: formatPlaces(places), event: 'reset', data }))
  }

  /** Called without places while the reader catches up, because the client is behind the feed. */
  comment(places?: Places): void {
    this.write(encodeComment(places && formatPlaces(places)))
  }

  /** Writes a chunk, or closes the stream if its client has left more than a megabyte unread. */
  write(chunk: Uint8Array | string): void {
    if (this.#output.unreadBytes > MAX_UNREAD_BYTES) this.#output.cut()
    else if (chunk.length > 0) this.#output.write(chunk)
  }

  /** Writes what the subscription selects of the next events of a log, and waits for the client to read it. */
  async catchUp(events: readonly LoggedEvent[], log: number, place: number): Promise<void> {
    this.#output.write(this.select(encodeEvents(events, this.#places, log)))
    this.#places = this.#places.with(log, place)
    const limit = setTimeout(() => this.#output.cut(), MAX_DRAIN_MS)
    await this.#output.drained()
    clearTimeout(limit)
  }

  select(events: readonly EncodedEvent[]): Buffer {
    const selected = events.filter(({ subject }) => this.subscription.matches(subject))
    return Buffer.from(selected.map(({ text }) => text).join(''))
  }
}
