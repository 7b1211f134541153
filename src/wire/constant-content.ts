import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** The body of an answer that is the same for every caller as long as the process runs: its bytes are made once. */
export class ConstantContent {
  readonly bytes: Buffer
  /** Tag of {@link bytes}, strong (RFC 9110, section 8.8.3). */
  readonly entityTag: string
  readonly contentType: string
  #compressed: Buffer | undefined

  constructor(text: string, contentType: string) {
    this.bytes = Buffer.from(text)
    this.contentType = contentType
    const digest = createHash('sha256').update(this.bytes).digest('base64url')
    this.entityTag = `"${digest.slice(0, 22)}"`
  }

  /** The content as gzip (RFC 1952), made by the first call. */
  get compressed(): Buffer {
    this.#compressed ??= gzipSync(this.bytes, { level: 9 })
    return this.#compressed
  }

  /** Tag of {@link compressed}: another representation has another tag. */
  get compressedTag(): string {
    return this.entityTag.replace(/"$/, '-gzip"')
  }
}
