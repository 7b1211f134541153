import { redactForbiddenVariables } from '../../kernel/alerts.ts'
import type { AlertWeight } from './model.ts'

// Conventions for the text of an alert (docs/specification.md, Alerts).

// `weight=6`, `weight: 6`, also as a member of JSON. A number outside 0 to 6 is only text: `weight: 75 kg`.
const WEIGHT = /\bweight["']?\s*[=:：]\s*["']?([0-6])(?!\w|[.,]\d)/i

// Ends at a space, a quote, a bracket or a list separator; a dot or a colon ends it only before one of these.
const ALARM_ID =
  /\balarm_id["']?\s*[=:：]\s*["']?([^\s"'`,;&|()[\]{}<>，；。、]{0,127}[^\s"'`,;&|()[\]{}<>，；。、.:])[.:]*(?=[\s"'`,;&|()[\]{}<>，；。、]|$)/i

/** The first weight in the body of a report. */
export function weightIn(body: string): AlertWeight | undefined {
  const match = WEIGHT.exec(body)
  return match ? (Number(match[1]) as AlertWeight) : undefined
}

/** The first alarm id in the body of a report. */
export function alarmIdIn(body: string): string | undefined {
  return ALARM_ID.exec(body)?.[1]
}

/**
 * Sanitizes a text that the platform writes and that may quote a client: redacts variables that stand for secrets, and
 * truncates it to `maxCodeUnits` of UTF-16. Rejecting it instead would roll back the change that the alert is about.
 */
export function sanitizeText(text: string, maxCodeUnits: number): string {
  return redactText(text).slice(0, maxCodeUnits).toWellFormed()
}

/** Sanitizes like {@link sanitizeText}, and truncates the text to `maxBytes` of UTF-8, never inside a character. */
export function sanitizeBody(text: string, maxBytes: number): string {
  const allowed = redactText(text).toWellFormed()
  const { read } = new TextEncoder().encodeInto(allowed, new Uint8Array(maxBytes))
  return allowed.slice(0, read)
}

function redactText(text: string): string {
  // PostgreSQL cannot store NUL. It is removed first, because it could hide a variable: `${to\0ken}`.
  return redactForbiddenVariables(text.replaceAll('\u0000', ''))
}
