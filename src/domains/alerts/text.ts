import type { AlertWeight } from './model.ts'

// Conventions for the text of an alert (docs/specification.md, Alerts); no other domain has such.

const FORBIDDEN_VARIABLE = /\$\{\s*(?:token|password)\s*\}/i
const EVERY_FORBIDDEN_VARIABLE = new RegExp(FORBIDDEN_VARIABLE, 'gi')

// `weight=6`, `weight: 6`, also as a member of JSON. A number that is no weight is just text: `weight: 75 kg`.
const WEIGHT = /\bweight["']?\s*[=:：]\s*["']?([0-6])(?!\w|[.,]\d)/i

// Ends at a space, a quote, a bracket or a mark that parts a list; dots and colons end it only at the end of a phrase.
const ALARM_ID =
  /\balarm_id["']?\s*[=:：]\s*["']?([^\s"'`,;&|()[\]{}<>，；。、]{0,127}[^\s"'`,;&|()[\]{}<>，；。、.:])[.:]*(?=[\s"'`,;&|()[\]{}<>，；。、]|$)/i

/** Whether a text names a variable that stands for a secret. */
export function namesForbiddenVariable(text: string): boolean {
  return FORBIDDEN_VARIABLE.test(text)
}

/** The first weight that the body of a report states. */
export function weightIn(body: string): AlertWeight | undefined {
  const match = WEIGHT.exec(body)
  return match ? (Number(match[1]) as AlertWeight) : undefined
}

/** The first alarm id that the body of a report states. */
export function alarmIdIn(body: string): string | undefined {
  return ALARM_ID.exec(body)?.[1]
}

/**
 * Text of the platform's own making, which may quote what a client sent: a variable that stands for a secret is taken
 * out of it, and what is too long is cut. Refusing it instead would stop the change that the alert tells of.
 */
export function presentable(text: string, maxLength: number): string {
  // PostgreSQL cannot store NUL. It goes first, so that no variable hides behind one.
  const allowed = text.replaceAll('\u0000', '').replace(EVERY_FORBIDDEN_VARIABLE, '**redacted**')
  return allowed.slice(0, maxLength).toWellFormed()
}
