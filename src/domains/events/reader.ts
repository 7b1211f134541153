import { SECOND } from '../../kernel/time.ts'
import { encodeComment, encodeServerSentEvent } from '../../wire/event-stream.ts'
import type { StreamOutput } from '../../wire/stream.ts'
import { formatPlaces, type LogName, type Places, type Subscription } from './model.ts'
import type { OrderedEvent } from './order.ts'

/** Why a stream cannot continue where its client stopped. */
export type ResetReason = 'unreadable' | 'removed'

// docs/specification.md, Live stream
const MAX_UNREAD_BYTES = 1_048_576
const MAX_DRAIN_MS = 30 * SECOND

export interface ReaderStart {
  readonly subscription: Subscription
  readonly logs: readonly LogName[]
  readonly places: Places
}

/** One stream: its subscription, its places while it catches up, and its client. */
export class EventReader {
  readonly subscription: Subscription
  /** The logs that the subscription has events of. */
  readonly logs: readonly LogName[]
  readonly #output: StreamOutput
  #places: Places

  constructor({ subscription, logs, places }: ReaderStart, output: StreamOutput) {
    this.subscription = subscription
    this.logs = logs
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
    this.#output.write(encodeComment(this.#idOf(this.#places)))
  }

  /** Continues at these places, and tells the client that it may have missed events. */
  reset(places: Places, reason: ResetReason): void {
    this.#places = places
    const data = JSON.stringify({ reason })
    this.#output.write(encodeServerSentEvent({ id: this.#idOf(places), event: 'reset', data }))
  }

  /** Called without places while the reader catches up, because the client is behind the feed. */
  comment(places?: Places): void {
    this.write(encodeComment(places && this.#idOf(places)))
  }

  /** Writes a chunk, or closes the stream if its client has left more than a megabyte unread. */
  write(chunk: Uint8Array | string): void {
    if (this.#output.unreadBytes > MAX_UNREAD_BYTES) this.#output.cut()
    else if (chunk.length > 0) this.#output.write(chunk)
  }

  /** Writes what the subscription selects of the next events, and waits for the client to read it. */
  async catchUp(events: readonly OrderedEvent[], places: Places): Promise<void> {
    this.#output.write(this.encode(events))
    this.#places = places
    const limit = setTimeout(() => this.#output.cut(), MAX_DRAIN_MS)
    await this.#output.drained()
    clearTimeout(limit)
  }

  /** Encodes what the subscription selects. The result is the same for all readers with this subscription. */
  encode(events: readonly OrderedEvent[]): Buffer {
    const selected = events.filter(({ subject }) => this.subscription.matches(subject))
    const encoded = selected.map(({ position, subject, payload }) =>
      encodeServerSentEvent({ id: this.#idOf(position), event: subject, data: payload }),
    )
    return Buffer.from(encoded.join(''))
  }

  #idOf(places: Places): string {
    return formatPlaces(places, this.logs)
  }
}
