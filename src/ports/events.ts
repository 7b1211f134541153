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

/** A committed event, as a reader of the live stream gets it. */
export interface LoggedEvent {
  /** Its place in its log: positive, and higher than that of every event committed before it. */
  readonly place: number
  readonly subject: string
  /** JSON text: the CloudEvents envelope. */
  readonly payload: string
}

/** The next events of a log. */
export interface EventPage {
  /** In the order of their places. */
  readonly events: readonly LoggedEvent[]
  /** There are no other events up to this place, and there will be none. */
  readonly through: number
}

/** The committed events of the messages, whether they are delivered or not. */
export interface EventLog {
  /**
   * The events after the place `after`: about `limit`, or less if they are large. With `subjects`, each exact or a prefix
   * that ends in `*`, only the events on these, and none if there is none in the next part of the log.
   */
  readAfter(after: number, limit: number, subjects?: readonly string[]): Promise<EventPage>
  /** The place of the newest event; 0 before the first one. */
  newestPlace(): Promise<number>
  /** The highest place up to which events may have been removed. A reader that has stopped before it may miss events. */
  removedUpTo(): Promise<number>
}

/** A message of the outbox: an event, or a message of a user. */
export interface LoggedMessage extends LoggedEvent {
  readonly id: string
  /** Whether a domain wrote it; then `payload` is its envelope, otherwise any JSON. */
  readonly isEvent: boolean
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The trace of a message of a user (`storedTrace`); an event has it in its payload. */
  readonly trace: string | null
}

/** The log of the events with the messages of users. */
export interface MessageLogReader {
  /** As `readAfter` of {@link EventLog}, with the messages of users. */
  readMessagesAfter(
    after: number,
    limit: number,
    subjects?: readonly string[],
  ): Promise<{ readonly messages: readonly LoggedMessage[]; readonly through: number }>
  /** The messages at these places, as many of the first ones as have 1 MiB together; undefined for a removed one. */
  readMessagesAt(places: readonly number[]): Promise<ReadonlyMap<number, LoggedMessage | undefined>>
  /** A place that all later commits come after; does not wait for those that run. */
  settledPlace(): Promise<number>
  /** The place that all messages written at `time` (epoch milliseconds) or later come after. */
  placeBefore(time: number): Promise<number>
}

/** An event whose position among the messages is recorded. */
export interface PositionedEvent extends LoggedEvent {
  /**
   * The place of a message: the event comes after this message, and before the next one. It is never lower than that of
   * an event with a lower place.
   */
  readonly afterMessage: number
}

/** The committed events of telemetry, whose outbox has places of its own. */
export interface PositionedLog {
  /** The events after the place `after`, in the order of their places: about `limit`, or less if they are large. Empty only if there are none yet. */
  readAfter(after: number, limit: number): Promise<readonly PositionedEvent[]>
  /** The place of the newest event that comes before the message after `message`; 0 if there is none. */
  newestPlace(message: number): Promise<number>
  /** As `removedUpTo` of {@link EventLog}. */
  removedUpTo(): Promise<number>
  /**
   * Waits for the transactions that may have read an older place of the messages than the one that is newest now. Later
   * events come after all messages that are visible now.
   */
  waitForTransactions(): Promise<void>
}
