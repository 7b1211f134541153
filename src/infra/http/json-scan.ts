// How a JSON text is written, which its value does not tell. Every text that is passed here must be valid.

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** How many members all objects of a JSON text have together: as many as there are colons outside strings. */
export function countWrittenMembers(json: string): number {
  let colons = 0
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === COLON) colons++
    else if (character === QUOTE) at = endOfString(json, at)
  }
  return colons
}

/** How many members all objects of a value have together: fewer than its text has when that names a member twice. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  const own = Array.isArray(value) ? 0 : members.length
  return members.reduce((sum: number, member) => sum + countMembers(member), own)
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
    else if (character >= OPENING_BRACKET) depth += nesting(character)
  }
}

function nesting(character: number): number {
  if (character === OPENING_BRACE || character === OPENING_BRACKET) return 1
  return character === CLOSING_BRACE || character === CLOSING_BRACKET ? -1 : 0
}

/** The quotation mark that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

function isEscaped(json: string, at: number): boolean {
  let first = at
  while (json.charCodeAt(first - 1) === BACKSLASH) first--
  return (at - first) % 2 === 1
}
