import type { ROBOT_KINDS } from '../../config/schema.ts'

export type RobotKind = (typeof ROBOT_KINDS)[number]

/** A message to a group. Plain text: markup in it has no effect. */
export interface RobotMessage {
  readonly title: string
  readonly text: string
  /** Severity in the sender's words; only the generic robot receives it. */
  readonly level: string
  /** The same for each attempt to send one message, so that a receiver can recognise a repetition. */
  readonly key: string
}

/**
 * `retryable`: the same message may succeed later; otherwise a setting must be changed first.
 * `reason` contains neither the robot's address nor its secret.
 */
export type RobotOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly reason: string; readonly retryable: boolean }

/**
 * A robot in a group chat. `send` never throws. A message that is too long is sent in parts; when a part fails, the
 * message has failed, and repeating it sends all parts again. A message may wait for the robot's rate limit.
 */
export interface Robot {
  send(message: RobotMessage, signal?: AbortSignal): Promise<RobotOutcome>
}
