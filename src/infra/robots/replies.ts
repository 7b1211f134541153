import { permanent, temporary, type RobotReply, type Verdict } from './adapter.ts'

const SECONDS = /^\d{1,9}$/
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

/** The pause of `Retry-After` (RFC 9110, section 10.2.3) in milliseconds, undefined without one. */
function retryAfterMs({ headers }: RobotReply, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (SECONDS.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** The robot's words as one line of limited length. */
export function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > MAX_QUOTE_CHARACTERS ? `${line.slice(0, MAX_QUOTE_CHARACTERS)}…` : line
}

// Besides 5xx: request timeout, too early, too many requests (RFC 9110, RFC 8470, RFC 6585).
const TEMPORARY = [408, 425, 429]
const DEFAULT_PAUSE_MS = 60_000
// About the address, the credentials or the method, not about the content (RFC 9110, section 15.5).
const OF_RECEIVER = [401, 403, 404, 405, 407, 410]

/** The meaning of an HTTP status other than 200, for every kind of robot. */
export function statusVerdict(reply: RobotReply, now: number): Verdict {
  const reason = `HTTP ${reply.status} ${quote(reply.body)}`.trim()
  const retryable = TEMPORARY.includes(reply.status) || reply.status >= 500
  const pauseMs = retryAfterMs(reply, now) ?? (reply.status === 429 ? DEFAULT_PAUSE_MS : undefined)
  if (retryable) return temporary(reason, pauseMs)
  const isOfMessage = reply.status >= 400 && !OF_RECEIVER.includes(reply.status)
  return permanent(reason, isOfMessage ? 'message' : 'receiver')
}

/** A page for people: it comes from a proxy or a sign-in before the robot, whatever its status says. */
export function isPage({ headers, body }: RobotReply): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)\b/i.test(body)
}
