import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'

/** The known parameters of a request; others are ignored (RFC 6749, sections 3.1 and 3.2). */
export interface Parameters {
  /** By name. An empty value counts as omitted (RFC 6749, section 3.1). */
  readonly values: ReadonlyMap<string, string>
  /** Names that occur more than once, which is an error (RFC 6749, section 3.1). */
  readonly repeated: ReadonlySet<string>
  /** Why the parameters could not be parsed. */
  readonly problem?: string
}

const NONE: ReadonlySet<string> = new Set()

export function unreadableParameters(problem: string): Parameters {
  return { values: new Map(), repeated: NONE, problem }
}

/** Parses `a=1&b=2`, from a query or a form. */
export function parseForm(text: string, known: ReadonlySet<string>): Parameters {
  const values = new Map<string, string>()
  let repeated: Set<string> | undefined
  for (let at = 0; at < text.length;) {
    const end = indexOrEnd(text, '&', at)
    const equals = Math.min(indexOrEnd(text, '=', at), end)
    const name = decodeFormText(text.slice(at, equals))
    const value = decodeFormText(text.slice(equals + 1, end))
    at = end + 1
    if (name === undefined || value === undefined) {
      return unreadableParameters('a parameter is not percent-encoded UTF-8')
    }
    if (!known.has(name)) continue
    if (values.has(name)) (repeated ??= new Set()).add(name)
    else values.set(name, value)
  }
  return { values: withoutEmpty(values), repeated: repeated ?? NONE }
}

function indexOrEnd(text: string, char: string, from: number): number {
  const index = text.indexOf(char, from)
  return index < 0 ? text.length : index
}

function withoutEmpty(values: Map<string, string>): Map<string, string> {
  for (const [name, value] of values) if (value === '') values.delete(name)
  return values
}

/** Undefined when the text is not ASCII, or not percent-encoded UTF-8. */
export function decodeFormText(text: string): string | undefined {
  if (!ASCII.test(text)) return undefined
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return undefined
  }
}

const ASCII = /^[ -~]*$/

/** Parses a JSON object whose known members are strings. */
export function parseJsonObject(text: string, known: ReadonlySet<string>): Parameters {
  const object = jsonValueOf(text)
  if (!isRecord(object)) return unreadableParameters('the body is not a JSON object')
  const values = new Map<string, string>()
  for (const name of known) {
    if (!Object.hasOwn(object, name)) continue
    const value = object[name]
    if (typeof value !== 'string') return unreadableParameters(`${name} is not a JSON string`)
    if (value !== '') values.set(name, value)
  }
  return { values, repeated: NONE }
}
