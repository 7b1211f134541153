import { AppError } from './errors.ts'

/** A variable that stands for a secret; not allowed in alerts (docs/specification.md, Alerts). */
export const FORBIDDEN_VARIABLE = /\$\{\s*(?:token|password)\s*\}/i

/** Whether a text contains a variable that stands for a secret. */
export function hasForbiddenVariable(text: string): boolean {
  return FORBIDDEN_VARIABLE.test(text)
}

/** Throws `forbidden_variable` if a field contains a variable that stands for a secret. */
export function requireAllowedText(texts: Readonly<Record<string, string | undefined>>): void {
  const fields = Object.keys(texts).filter((field) => hasForbiddenVariable(texts[field] ?? ''))
  if (fields.length === 0) return
  throw new AppError(
    'invalid',
    'forbidden_variable',
    `${fields.join(', ')}: the variables \${token} and \${password} are not allowed in an alert; remove them.`,
    { details: fields.map((path) => ({ path, message: 'contains a variable that stands for a secret' })) },
  )
}
