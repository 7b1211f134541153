// How a JSON text is written, which its value does not tell. Only `scanJson` takes a text that is not valid.

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125
const PLUS = 43
const MINUS = 45
const POINT = 46
const DIGIT_0 = 48
const DIGIT_9 = 57
const CAPITAL_E = 69
const SMALL_E = 101

/** What a JSON text tells that its value does not, or only at a high price. */
export interface JsonScan {
  /** How many members all objects have together: as many as there are colons outside strings. */
  readonly members: number
  /** How many members the object has that has the most. */
  readonly mostMembers: number
  /** How many lists and objects are in each other. */
  readonly depth: number
  /** Where the first number begins that a double does not represent (RFC 7493, section 2.2). */
  readonly lostAt: number | undefined
}

/** Reads the text once. Of a text that is not valid it tells nothing, but it ends. */
export function scanJson(json: string): JsonScan {
  let members = 0
  let ofThisObject = 0
  let mostMembers = 0
  const ofOuterObjects: number[] = []
  let depth = 0
  let lostAt: number | undefined
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) at = endOfString(json, at)
    else if (character === COLON) {
      members++
      ofThisObject++
      if (ofThisObject > mostMembers) mostMembers = ofThisObject
    } else if (isDigit(character)) {
      const end = endOfNumber(json, at)
      if (lostAt === undefined && isLost(json, at, end)) lostAt = at
      at = end - 1
    } else if (character >= OPENING_BRACKET) {
      const step = depthChange(character)
      if (step === 1) {
        ofOuterObjects.push(ofThisObject)
        ofThisObject = 0
        if (ofOuterObjects.length > depth) depth = ofOuterObjects.length
      } else if (step === -1) ofThisObject = ofOuterObjects.pop() ?? 0
    }
  }
  return { members, mostMembers, depth, lostAt }
}

/** The names and indexes that lead to the value at that place of the text. */
export function pathAt(json: string, place: number): string[] {
  const steps: (number | Span)[] = []
  let name: Span = { start: 0, end: 0 }
  for (let at = 0; at < place; at++) {
    const character = json.charCodeAt(at)
    const index = steps.at(-1)
    if (character === QUOTE) {
      const start = at
      at = endOfString(json, at)
      name = { start, end: at + 1 }
    } else if (character === COLON) steps[steps.length - 1] = name
    else if (character === COMMA && typeof index === 'number') steps[steps.length - 1] = index + 1
    else if (character === OPENING_BRACE) steps.push(name)
    else if (character === OPENING_BRACKET) steps.push(0)
    else if (depthChange(character) === -1) steps.pop()
  }
  return steps.map((step) =>
    typeof step === 'number' ? String(step) : (JSON.parse(json.slice(step.start, step.end)) as string),
  )
}

/** From the first character of a value to the one behind it. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where the value of a member stands in the text of an object; the first one, if it is there twice. */
export function spanOfMember(json: string, name: string): Span | undefined {
  let nameStart = json.indexOf('"')
  while (nameStart !== -1) {
    const nameEnd = endOfString(json, nameStart) + 1
    const start = json.indexOf(':', nameEnd) + 1
    const end = endOfValue(json, start)
    if (isName(json.slice(nameStart, nameEnd), name)) return { start, end }
    nameStart = json.indexOf('"', end)
  }
  return undefined
}

function isName(text: string, name: string): boolean {
  return text.includes('\\') ? JSON.parse(text) === name : text === `"${name}"`
}

/** The comma or brace behind the value of a member that begins at `start`. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  for (let at = start; ; at++) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) at = endOfString(json, at)
    else if (depth === 0 && (character === COMMA || character === CLOSING_BRACE)) return at
    else if (character >= OPENING_BRACKET) depth += depthChange(character)
  }
}

function depthChange(character: number): number {
  if (character === OPENING_BRACE || character === OPENING_BRACKET) return 1
  return character === CLOSING_BRACE || character === CLOSING_BRACKET ? -1 : 0
}

/** The quotation mark that ends the string which begins at `start`; the end of a text without it. */
function endOfString(json: string, start: number): number {
  let at = start + 1
  for (; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) return at
    if (character === BACKSLASH) at++
  }
  return at
}

function isDigit(character: number): boolean {
  return character >= DIGIT_0 && character <= DIGIT_9
}

/** Behind a number whose first digit is at `start`. */
function endOfNumber(json: string, start: number): number {
  let at = start + 1
  while (isPartOfNumber(json.charCodeAt(at))) at++
  return at
}

function isPartOfNumber(character: number): boolean {
  return (
    isDigit(character) || character === POINT || character === PLUS || character === MINUS || isE(character)
  )
}

function isE(character: number): boolean {
  return character === CAPITAL_E || character === SMALL_E
}

// As many digits as the first integer that doubles leave out.
const MANY_DIGITS = 16

// As many digits as the first exponent that doubles leave out.
const EXPONENT_DIGITS = 3

/** Whether a double is another number: an integer that is too large, or any number that is. */
function isLost(json: string, start: number, end: number): boolean {
  if (end - start < MANY_DIGITS && exponentLength(json, start, end) < EXPONENT_DIGITS) return false
  const text = json.slice(start, end)
  const value = Number(text)
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^\d+$/.test(text))
}

function exponentLength(json: string, start: number, end: number): number {
  for (let at = end - 1; at > start; at--) if (isE(json.charCodeAt(at))) return end - 1 - at
  return 0
}

/**
 * How many members all objects of a value have together: fewer than its text has when that names a member twice. Calls
 * `visit` for each of them.
 */
export function countMembers(value: unknown, visit?: (name: string, member: unknown) => void): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, visit)
    return count
  }
  // Without a list of the members, of which there may be very many.
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    visit?.(name, member)
    count += 1 + countMembers(member, visit)
  }
  return count
}
