import { SECOND } from '../../kernel/time.ts'
import type { LoggedEvent } from '../../ports/event-log.ts'
import { encodeComment, encodeServerSentEvent } from '../../wire/event-stream.ts'
import type { StreamOutput } from '../../wire/stream.ts'
import { formatPlaces, type Places, type Subscription } from './model.ts'

/** Why a stream does not go on where its client stopped. */
export type ResetReason = 'unreadable' | 'removed'

// docs/specification.md, Live stream
const MAX_UNREAD_BYTES = 1_048_576
const MAX_DRAIN_MS = 30 * SECOND

/** An event as it is sent. */
export interface EncodedEvent {
  readonly subject: string
  readonly text: string
}

/** `places` are those of the reader; the one of this log is replaced by that of the event. */
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

/** One stream: its subscription, how far it has come while it catches up, and its client. */
export class EventReader {
  readonly subscription: Subscription
  readonly #output: StreamOutput
  #places: Places

  constructor(subscription: Subscription, places: Places, output: StreamOutput) {
    this.subscription = subscription
    this.#places = places
    this.#output = output
  }

  /** Behind that of the feed while the reader catches up; not kept up to date afterwards. */
  get places(): Places {
    return this.#places
  }

  get isOver(): boolean {
    return this.#output.isOver
  }

  get over(): StreamOutput['over'] {
    return this.#output.over
  }

  /** Begins the stream: a client that has seen no event yet can resume, too. */
  greet(): void {
    this.#output.write(encodeComment(formatPlaces(this.#places)))
  }

  /** Goes on from these places, and shows the client that it has missed events. */
  reset(places: Places, reason: ResetReason): void {
    this.#places = places
    const data = JSON.stringify({ reason })
    this.#output.write(encodeServerSentEvent({ id: formatPlaces(places), event: 'reset', data }))
  }

  /** Without places while the reader catches up: the client is not as far as the feed. */
  comment(places?: Places): void {
    this.write(encodeComment(places && formatPlaces(places)))
  }

  /** Closes the stream instead when its client has not read the last megabyte. */
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
