import type { RateLimit } from './pace.ts'
import type { RobotMessage } from './robot.ts'

export interface RobotTarget {
  readonly url: string
  readonly secret: string | undefined
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
 * What a reply means. `pauseMs`: the robot asked for a pause; the same message may be sent again after it.
 * `reason` may still hold what the robot echoed.
 */
export type Verdict =
  | { readonly sent: true }
  | { readonly sent: false; readonly reason: string; readonly retryable: boolean; readonly pauseMs?: number }

/** What is particular to one kind of robot. */
export interface RobotAdapter {
  readonly rate: RateLimit
  /** The largest {@link size} that the robot takes. */
  readonly maximumSize: number
  /** The size of a message in the unit in which the robot counts. */
  size(message: RobotMessage): number
  request(message: RobotMessage, target: RobotTarget): RobotRequest
  verdict(reply: RobotReply, now: number): Verdict
}

export const SENT: Verdict = { sent: true }

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
