import type { Tx } from '../store/store.ts'

/** What happened in a domain, in the words of its model. */
export interface DomainEvent<T> {
  /** The subject on the bus, and the type of the CloudEvents envelope: `order.paid`. */
  readonly type: string
  /** Id of the thing that the event is about. */
  readonly subject: string
  /** The thing as it is after the change; it is encoded as the API shows it when the event is written. */
  readonly data: T
}

/** Where a domain writes its events. */
export interface EventSink<T> {
  /**
   * Writes an event in the transaction of the change. It is published after the commit, at least once
   * (docs/specification.md, Events).
   */
  append(tx: Tx, event: DomainEvent<T>): Promise<void>
}
