/** A number and its noun, whose plural ends in `s`: `1 order`, `2 orders`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The decimal text of integer cents with two places: `1230` → `12.30`. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for the content or a quoted attribute of HTML: markup in it stays text. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** The text on one line: control and invisible characters become escapes. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  )
}

/** A path or name as one word of a command for a shell, in quotes if it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Rows as lines of aligned columns, the first row being the heading; each line ends with a newline. A cell may be text of anybody:
 * it makes no lines of its own and does not control the terminal.
 */
export function alignColumns(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(printable))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${rows.map(toLine).join('\n')}\n`
}

/** The value of a JSON text; undefined for another text. */
export function jsonValueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a value is an object with members, not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of the object in a JSON text; none of any other text. */
export function jsonMembersOf(text: string): Readonly<Record<string, unknown>> {
  const value = jsonValueOf(text)
  return isRecord(value) ? value : {}
}

/** A part of a URL without its escapes; a text with a percent sign that begins no escape stays as it is. */
export function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A JSON value that is already serialized: `text` is sent unchanged. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
