import { REDACTED } from '../../kernel/secret.ts'

// A shorter line, such as a bracket, is part of many texts that are no secret.
const MIN_LINE = 4

/**
 * Replaces secrets in a text that arrives in parts. The end of a part that may be the beginning of a secret is held back
 * until the next part, so that a secret is found wherever it is cut.
 */
export class SecretMask {
  readonly #secrets: readonly string[]
  readonly #mask: string
  #held = ''
  /** How many characters at the beginning of the held text were already written as a mask. */
  #covered = 0

  constructor(values: readonly string[], mask = REDACTED) {
    this.#mask = mask
    this.#secrets = [...new Set(values.flatMap(formsOf))].filter((form) => form !== '')
  }

  /** The part of the text so far that is certain. */
  write(part: string): string {
    if (this.#secrets.length === 0) return part
    const text = this.#held + part
    return this.#release(text, text.length - this.#undecidedLength(text))
  }

  /** The rest. */
  end(): string {
    return this.#release(this.#held, this.#held.length)
  }

  /** Writes the text up to `end`, and holds back what follows. */
  #release(text: string, end: number): string {
    const secret = coverage(text, this.#secrets, this.#covered)
    let written = ''
    for (let at = 0; at < end; at++) {
      if (!secret[at]) written += text[at]
      // The mask of text that was held back was written with the part before it.
      else if (at === 0 ? this.#covered === 0 : !secret[at - 1]) written += this.#mask
    }
    this.#held = text.slice(end)
    const isCut = end > 0 ? secret[end - 1] === 1 : this.#covered > 0
    this.#covered = isCut ? coveredLength(secret, end) : 0
    return written
  }

  /** The length of the longest end of a text that is the beginning of a secret. */
  #undecidedLength(text: string): number {
    const lengths = this.#secrets.map((secret) => {
      for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
        if (text.endsWith(secret.slice(0, length))) return length
      return 0
    })
    return Math.max(...lengths)
  }
}

/** The forms in which a program may print a secret: as it is, in JSON, in a URL or in Base64, and each of its lines alone. */
function formsOf(secret: string): string[] {
  return [secret, ...linesOf(secret)].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    ...base64FormsOf(text),
  ])
}

// Fewer bytes have few digits of their own, which are part of many texts that are no secret.
const MIN_BASE64_BYTES = 6

/**
 * The Base64 digits that depend on the secret alone, in both alphabets (RFC 4648), behind any number of other bytes: three
 * bytes are four digits, so there are three alignments. The digits at both ends have bits of what is around them.
 */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  if (bytes.length < MIN_BASE64_BYTES) return []
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
    const digits = [Math.ceil((before * 8) / 6), Math.floor((encoded.length * 8) / 6)] as const
    return (['base64', 'base64url'] as const).map((alphabet) => encoded.toString(alphabet).slice(...digits))
  })
}

function linesOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim())
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= MIN_LINE)
}

/** An array with 1 for each character that belongs to a secret. */
function coverage(text: string, secrets: readonly string[], covered: number): Uint8Array {
  const marks = new Uint8Array(text.length)
  marks.fill(1, 0, covered)
  for (const secret of secrets)
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      marks.fill(1, at, at + secret.length)
  return marks
}

function coveredLength(marks: Uint8Array, from: number): number {
  const end = marks.indexOf(0, from)
  return (end < 0 ? marks.length : end) - from
}
