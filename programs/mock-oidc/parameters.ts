/** The parameters of a request that mean something here; others are ignored (RFC 6749, sections 3.1 and 3.2). */
export interface Parameters {
  /** By name; one without a value counts as left out (RFC 6749, section 3.1). */
  readonly values: ReadonlyMap<string, string>
  /** The names that stand more than once, which none may. */
  readonly repeated: ReadonlySet<string>
  /** Why nothing, or not everything, could be read. */
  readonly fault?: string
}

const NONE: ReadonlySet<string> = new Set()

export function unreadable(fault: string): Parameters {
  return { values: new Map(), repeated: NONE, fault }
}

/** Reads `a=1&b=2`, of a query or of a form. */
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
      return unreadable('a parameter is not well encoded; percent-encode it as UTF-8')
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

/** Undefined when it is not percent-encoded UTF-8 in ASCII. */
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

/** Reads a JSON object whose known members are texts. */
export function parseJsonObject(text: string, known: ReadonlySet<string>): Parameters {
  const object = parseObject(text)
  if (!object) return unreadable('the body is not a JSON object')
  const values = new Map<string, string>()
  for (const name of known) {
    if (!Object.hasOwn(object, name)) continue
    const value = object[name]
    if (typeof value !== 'string') return unreadable(`${name} is not a JSON string`)
    if (value !== '') values.set(name, value)
  }
  return { values, repeated: NONE }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
