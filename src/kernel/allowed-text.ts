import { AppError } from './errors.ts'
import { fieldFault } from './faults.ts'
import { REDACTED } from './secret.ts'

// A variable that stands for a secret; not allowed in alerts (docs/specification.md, Alerts).
const FORBIDDEN_VARIABLE = /\$\{\s*(?:token|password)\s*\}/i
const EVERY_FORBIDDEN_VARIABLE = new RegExp(FORBIDDEN_VARIABLE, 'gi')

/** Whether a text contains a variable that stands for a secret. */
export function hasForbiddenVariable(text: string): boolean {
  return FORBIDDEN_VARIABLE.test(text)
}

/** Redacts the variables that stand for secrets, in a text that quotes others and must not be refused. */
export function redactForbiddenVariables(text: string): string {
  return text.replace(EVERY_FORBIDDEN_VARIABLE, REDACTED)
}

/** Throws `forbidden_variable` if a field contains a variable that stands for a secret. */
export function requireAllowedText(texts: Readonly<Record<string, string | undefined>>): void {
  const fields = Object.keys(texts).filter((field) => hasForbiddenVariable(texts[field] ?? ''))
  if (fields.length === 0) return
  throw new AppError(
    'invalid',
    'forbidden_variable',
    `${fields.join(', ')}: the variables \${token} and \${password} are not allowed in an alert; remove them.`,
    { details: fields.map((path) => fieldFault(path, 'secret_variable')) },
  )
}
