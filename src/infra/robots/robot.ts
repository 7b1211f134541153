import type { ROBOT_KINDS } from '../../config/receivers.ts'
import type { ChannelMessage } from '../../ports/notification-channel.ts'

export type RobotKind = (typeof ROBOT_KINDS)[number]

/** A message to a group; only the generic robot receives its `level` and `key`. */
export type RobotMessage = ChannelMessage

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
