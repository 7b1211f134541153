import type { Tx } from '../store/store.ts'

/** A message to people that is not about an alert. */
export interface Notice {
  /** The same for each attempt to say the same: while one with the key waits for a receiver, another is not queued. */
  readonly key: string
  readonly title: string
  readonly text: string
  /** Where it leads, such as a page of the console. */
  readonly url?: string
}

/** Where a domain tells the configured receivers something (docs/specification.md, Alert notifications). */
export interface Notices {
  /**
   * Queues one message to each of the receivers in the caller's transaction; it is sent after the commit, and retried for
   * 24 hours. A name that is not configured is left out.
   */
  tell(tx: Tx, receivers: readonly string[], notice: Notice): Promise<void>
}
