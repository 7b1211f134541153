/** The members of a JSON object; none of them is checked. */
export type Members = Readonly<Record<string, unknown>>

const NONE: Members = {}

/** A member that is an object; empty if it is none. */
export function objectMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : NONE
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function integerOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The object in a JSON text; empty if it has none. */
export function parseMembers(text: string): Members {
  try {
    return objectMembers(JSON.parse(text))
  } catch {
    return NONE
  }
}

// The codes of the providers: `resource_missing`, `ORDERPAID`, `ACQ.TRADE_NOT_EXIST`, `isv.invalid-app-id`.
const CODE = /^[A-Za-z0-9_.-]{1,64}$/

/** A provider's code. Anything else could be a text with personal data. */
export function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && CODE.test(value) ? value : undefined
}
