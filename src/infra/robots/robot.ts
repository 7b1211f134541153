import type { ROBOT_KINDS } from '../../config/schema.ts'

export type RobotKind = (typeof ROBOT_KINDS)[number]

/** What people are told. Plain text: nothing in it is taken for markup, whoever wrote it. */
export interface RobotMessage {
  readonly title: string
  readonly text: string
  /** How serious it is, in the sender's words; only the generic robot passes it on. */
  readonly level: string
  /** The same for each attempt at one notification, so that a receiver can recognise a repetition. */
  readonly key: string
}

/**
 * `retryable`: the same message may get through later; otherwise somebody must change something first.
 * `reason` is fit for a log: it holds neither the robot's address nor its secret.
 */
export type RobotOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly reason: string; readonly retryable: boolean }

/**
 * A robot in a group chat (contract, Alerts). `send` never throws. A message that is too long for the robot goes out
 * in parts; when a later part fails the message has failed, and a repetition sends all parts again. Sends are paced
 * to the robot's rate limit, so one may wait for its turn before it takes its time on the wire.
 */
export interface Robot {
  send(message: RobotMessage, signal?: AbortSignal): Promise<RobotOutcome>
}
