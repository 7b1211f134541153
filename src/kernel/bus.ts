/** One message as the bus carries it. `payload` is UTF-8 text; `id` lets a receiver recognise a repetition. */
export interface BusMessage {
  readonly id: string
  readonly subject: string
  readonly payload: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * What became of one message.
 * `delivered`: the server has confirmed it. `failed`: it may or may not have arrived; send it again.
 * `refused`: the bus will never take it (too large, bad subject, no permission).
 */
export type Delivery =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed'; readonly reason: string }
  | { readonly outcome: 'refused'; readonly reason: string }

export type BusState = 'connected' | 'disconnected' | 'closed'

/**
 * The message bus (contract, section 4). It may be away at any time: nothing here throws for that.
 *
 * `publish` sends the messages in the order given and answers one {@link Delivery} for each, in the same order.
 * Publishing a message twice is allowed: with JetStream the server drops the repetition by its id, otherwise
 * receivers do. After a `failed` the caller must not count on any later message of that subject having arrived.
 */
export interface Bus {
  readonly state: BusState
  publish(messages: readonly BusMessage[]): Promise<Delivery[]>
  /** Calls back after each change of state; the function returned stops that. */
  onState(listener: (state: BusState) => void): () => void
  /** Flushes what is under way and closes the connection; may be called twice. */
  close(): Promise<void>
}
