import type { RateLimit } from '../../kernel/token-bucket.ts'
import type { SendFault } from '../../ports/notification-channel.ts'
import type { RobotMessage } from './robot.ts'

export interface RobotTarget {
  readonly url: string
  readonly secret: string | undefined
  /** The chat of Telegram. */
  readonly chatId?: string | undefined
  /** The present, in milliseconds since the epoch. */
  readonly now: number
}

export interface RobotRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RobotReply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/**
 * The meaning of a reply. `pauseMs`: the robot asks for a pause, after which the same message may be sent again.
 * `reason` may contain credentials that the robot repeated.
 */
export type Verdict =
  | { readonly sent: true }
  | {
      readonly sent: false
      readonly reason: string
      readonly retryable: boolean
      readonly fault: SendFault
      readonly pauseMs?: number
    }

/** The protocol of one kind of robot. */
export interface RobotAdapter {
  readonly rate: RateLimit
  /** The largest {@link size} of a message. */
  readonly maximumSize: number
  /** The size of a message in the robot's own unit. */
  size(message: RobotMessage): number
  request(message: RobotMessage, target: RobotTarget): RobotRequest
  verdict(reply: RobotReply, now: number): Verdict
}

export const SENT: Verdict = { sent: true }

/** A failure that the same message may survive later. */
export const temporary = (reason: string, pauseMs?: number): Verdict => ({
  sent: false,
  reason,
  retryable: true,
  fault: 'receiver',
  ...(pauseMs !== undefined && { pauseMs }),
})

/** A failure until somebody changes the settings of the robot or the message. */
export const permanent = (reason: string, fault: SendFault): Verdict => ({
  sent: false,
  reason,
  retryable: false,
  fault,
})

/** What a button that leads there says. */
export const LINK_TEXTS = { open: 'Open', acknowledge: 'Acknowledge', runbook: 'Runbook' } as const

export const byteLength = (text: string): number => Buffer.byteLength(text)

export function jsonRequest(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): RobotRequest {
  return {
    url,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  }
}
