import type { RobotReply, Verdict } from './adapter.ts'

const SECONDS = /^\d{1,9}$/
const MAX_QUOTE_CHARACTERS = 200

/** The fields of a JSON object, or none at all when the body is something else. */
export function jsonFields(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The pause asked for with `Retry-After` (RFC 9110, 10.2.3) in milliseconds, if one is. */
function retryAfterMs({ headers }: RobotReply, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (SECONDS.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** What the robot said, in one line of limited length. */
export function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > MAX_QUOTE_CHARACTERS ? `${line.slice(0, MAX_QUOTE_CHARACTERS)}…` : line
}

// The statuses with which a server says that it may work later (protocols: 408, 425, 429 and 5xx).
const TEMPORARY = [408, 425, 429]
const DEFAULT_PAUSE_MS = 60_000

/** What an HTTP status other than 200 means whichever robot it is from. */
export function statusVerdict(reply: RobotReply, now: number): Verdict {
  const reason = `HTTP ${reply.status} ${quote(reply.body)}`.trim()
  const retryable = TEMPORARY.includes(reply.status) || reply.status >= 500
  const pauseMs = retryAfterMs(reply, now) ?? (reply.status === 429 ? DEFAULT_PAUSE_MS : undefined)
  return {
    sent: false,
    reason,
    retryable,
    ...(retryable && pauseMs !== undefined && { pauseMs }),
  }
}
