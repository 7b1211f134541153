/** One message on the bus. `payload` is UTF-8 text; receivers recognise duplicates by `id`. */
export interface BusMessage {
  readonly id: string
  readonly subject: string
  readonly payload: string
  readonly headers: Readonly<Record<string, string>>
  /** Further headers: of the trace that it belongs to, unless `headers` names one. */
  readonly traceHeaders?: Readonly<Record<string, string>>
}

/**
 * The most bytes of messages that are published together; a single message may be larger. A link of 100 kB a second takes
 * them before the server counts as silent.
 */
export const PUBLISHED_BYTES = 524_288

/** Why the bus does not take a message. */
export const BUS_FAULTS = [
  'too_large',
  'headers_too_large',
  'not_permitted',
  'no_stream',
  'bad_subject',
] as const
export type BusFault = (typeof BUS_FAULTS)[number]

/**
 * The result of publishing one message.
 * `delivered`: the server has confirmed it. `failed`: it may or may not have arrived; send it again.
 * `refused`: the bus will never take it (too large, bad subject, no permission).
 */
export type PublishResult =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string; readonly fault?: BusFault | undefined }

export type BusState = 'connected' | 'disconnected' | 'closed'

/**
 * The message bus (docs/specification.md, Events). It may be offline at any time: no method throws because of that.
 *
 * `publish` sends the messages in the given order and returns one {@link PublishResult} for each, in the same order.
 * Publishing a message twice is allowed: with JetStream the server drops the duplicate by its id, otherwise
 * receivers do. After a `failed`, later messages on that subject count as failed too.
 */
export interface Bus {
  readonly state: BusState
  /** Why messages wait: the reason of the last failed connection, or a missing stream; undefined if none does. */
  readonly problem: string | undefined
  /** When the server made the stream that the platform has created, in epoch milliseconds; undefined without one. */
  readonly streamMadeAt?: number | undefined
  /** Since when the connected server has no JetStream, in epoch milliseconds; undefined with one, and while nobody knows. */
  readonly unstoredSince?: number | undefined
  publish(messages: readonly BusMessage[]): Promise<PublishResult[]>
  /** Calls `listener` after each change of state; the returned function removes it. */
  onState(listener: (state: BusState) => void): () => void
  /** Flushes pending messages and closes the connection; may be called twice. */
  close(): Promise<void>
}
