import { ALERT_VARIABLES } from '../../../src/config/backup-templates.ts'

export type AlertVariable = (typeof ALERT_VARIABLES)[number]

/** The known values; a variable without a value is shown as a hyphen. */
export type AlertVariables = Readonly<Partial<Record<AlertVariable, string>>>

export function isAlertVariable(name: string): name is AlertVariable {
  return (ALERT_VARIABLES as readonly string[]).includes(name)
}

// Line breaks and other control characters, and the characters that change the direction of a text.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** One line of at most `maxLength` characters, for a text from outside such as a file name or an error. */
export function singleLine(text: string, maxLength: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line
}

/** The longest beginning of a text that has at most `maxBytes` in UTF-8. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  // A stream decoder leaves out half a character at the end.
  return bytes.length <= maxBytes
    ? text
    : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
