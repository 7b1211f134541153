/** A committed event, as a reader of the live stream gets it. */
export interface LoggedEvent {
  /** Its place in its log: positive, and higher than that of every event committed before it. */
  readonly place: number
  readonly subject: string
  /** JSON text: the CloudEvents envelope. */
  readonly payload: string
}

/**
 * The committed events of one outbox table, whether they are delivered or not. Each outbox has a log of its own, with
 * places of its own: a reader keeps one place for each log.
 */
export interface EventLog {
  /** The events after the place `after`, in the order of their places: about `limit`. Empty only if there are none yet. */
  readAfter(after: number, limit: number): Promise<readonly LoggedEvent[]>
  /** The place of the newest event; 0 before the first one. */
  newestPlace(): Promise<number>
  /** The highest place up to which events may have been removed. A reader that has stopped before it may miss events. */
  removedUpTo(): Promise<number>
}
