import type { ROBOT_KINDS } from '../../config/receivers.ts'
import type { ChannelMessage, SendFault } from '../../ports/notification-channel.ts'
import { parseRetryAfter } from '../../kernel/time.ts'
import type { RateLimit } from '../../kernel/waiting.ts'

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

const MAX_QUOTE_CHARACTERS = 200

/** The fields of a JSON object; none for any other body. */
export function jsonFields(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The robot's words as one line of limited length. */
export function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > MAX_QUOTE_CHARACTERS ? `${line.slice(0, MAX_QUOTE_CHARACTERS)}…` : line
}

// Besides 5xx: request timeout, too early, too many requests (RFC 9110, RFC 8470, RFC 6585).
const TEMPORARY_STATUSES = [408, 425, 429]
const DEFAULT_PAUSE_MS = 60_000
// About the address, the credentials or the method, not about the content (RFC 9110, section 15.5).
const RECEIVER_STATUSES = [401, 403, 404, 405, 407, 410]

/** The meaning of an HTTP status, for a reply that says nothing else; 200 without more is not the answer of a robot. */
export function statusVerdict(reply: RobotReply, now: number): Verdict {
  if (reply.status === 200) return temporary(`an unknown answer: ${quote(reply.body)}`)
  const reason = `HTTP ${reply.status} ${quote(reply.body)}`.trim()
  const retryable = TEMPORARY_STATUSES.includes(reply.status) || reply.status >= 500
  const pauseMs =
    parseRetryAfter(reply.headers.get('retry-after'), now) ??
    (reply.status === 429 ? DEFAULT_PAUSE_MS : undefined)
  if (retryable) return temporary(reason, pauseMs)
  const isOfMessage = reply.status >= 400 && !RECEIVER_STATUSES.includes(reply.status)
  return permanent(reason, isOfMessage ? 'message' : 'receiver')
}

/** A page for people: it comes from a proxy or a sign-in before the robot, whatever its status says. */
export function isPage({ headers, body }: RobotReply): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)\b/i.test(body)
}
