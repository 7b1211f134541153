import { REDACTED } from '../../kernel/secret.ts'
import { SecretMask } from './secret-mask.ts'

// docs/specification.md, Commands: the last 64 KiB of both streams
export const MAX_OUTPUT_BYTES = 65_536

/** The end of an output. */
export interface OutputSnapshot {
  readonly text: string
  /** The characters (UTF-16 code units) of the whole output, of which `text` is the end. */
  readonly total: number
}

// Stands for the mask until the text is stored, so that a secret such as "red" is not found in the mask itself.
const MASKED = '\0'

type StreamName = 'stdout' | 'stderr'

/** The output of a run: both streams in the order of their arrival, as text, without secrets, and of it the end. */
export class RunOutput {
  readonly #streams: Readonly<Record<StreamName, { decoder: TextDecoder; mask: SecretMask }>>
  /** Finds secrets of which each stream has a part. */
  readonly #mask: SecretMask
  #text = ''
  #total = 0

  constructor(secrets: readonly string[]) {
    const stream = () => ({ decoder: new TextDecoder(), mask: new SecretMask(secrets, MASKED) })
    this.#streams = { stdout: stream(), stderr: stream() }
    this.#mask = new SecretMask(secrets, MASKED)
  }

  get snapshot(): OutputSnapshot {
    return { text: this.#text, total: this.#total }
  }

  write(name: StreamName, bytes: Uint8Array): void {
    const { decoder, mask } = this.#streams[name]
    this.#append(this.#mask.write(mask.write(storableText(decoder.decode(bytes, { stream: true })))))
  }

  /** Adds the text that was retained to mask it. The lines of the platform itself follow, each on a line of its own. */
  end(lines: readonly string[] = []): void {
    for (const { decoder, mask } of Object.values(this.#streams))
      this.#append(this.#mask.write(mask.write(storableText(decoder.decode())) + mask.end()))
    this.#append(this.#mask.end())
    for (const line of lines) {
      const start = this.#text === '' || this.#text.endsWith('\n') ? '' : '\n'
      this.#append(storableText(`${start}[platform] ${line}\n`))
    }
  }

  #append(text: string): void {
    const masked = text.replaceAll(MASKED, REDACTED)
    this.#total += masked.length
    this.#text = lastBytes(this.#text + masked, MAX_OUTPUT_BYTES)
  }
}

/** PostgreSQL cannot store NUL. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

/** The end of a text that has at most so many bytes as UTF-8, without half a character at its beginning. */
function lastBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let start = bytes.length - limit
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.toString('utf8', start)
}
