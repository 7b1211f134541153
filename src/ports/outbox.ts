import type { BusFault, BusMessage } from '../kernel/bus.ts'
import type { Tx } from '../store/store.ts'

/** A pending message. Messages of one subject are sent in the order of `seq`. */
export interface OutboxMessage extends BusMessage {
  readonly seq: number
}

/** A message that the bus did not take, and why. */
export interface UndeliveredMessage extends OutboxMessage {
  readonly reason: string
  readonly fault?: BusFault | undefined
}

/** The results of one batch. */
export interface Settlement {
  readonly delivered: readonly OutboxMessage[]
  /** Stay pending and are sent again. */
  readonly failed: readonly UndeliveredMessage[]
  /** The bus will never take them: they become dead. */
  readonly refused: readonly UndeliveredMessage[]
}

/** The table of messages that were committed together with a change. */
export interface Outbox {
  /**
   * The oldest pending messages in the order of `seq`, except those on the given subjects or patterns (`order.>`): about
   * `limit`, or as many as are published together (`PUBLISHED_BYTES`).
   */
  pending(limit: number, without: readonly string[]): Promise<OutboxMessage[]>
  /**
   * Records the results; may be called twice for the same message. Returns the `seq` of each message that it skipped, and
   * that is sent again: another transaction has it locked, or it has to wait behind an earlier one of its subject.
   */
  settle(settlement: Settlement): Promise<readonly number[]>
}

/** Keeps what the bus has refused for good until a person sends it again. */
export interface DeadLetters {
  /** Adds messages of another outbox. Adds none and returns false while too many are dead (docs/specification.md, Limits). */
  setAside(tx: Tx, refused: readonly UndeliveredMessage[]): Promise<boolean>
}

/** A lock with an expiry: of all processes on one database, only its holder delivers. */
export interface DeliveryLease {
  /** Takes or prolongs the lease; false while another process holds it. */
  hold(): Promise<boolean>
  release(): Promise<void>
}

/** Delivery to the bus, as the code sees it that writes messages. */
export interface Delivery {
  /** Announces new messages in the outbox. Cheap: may be called for each message. */
  wake(): void
  /**
   * Resolves when this process has delivered the message or the bus has refused it, and after `withinMs` in any case;
   * at once in a process that does not deliver.
   */
  waitForSettlement(id: string, withinMs: number): Promise<void>
}
