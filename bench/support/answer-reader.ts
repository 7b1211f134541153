const END_OF_HEAD = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const BODILESS = new Set([204, 304])

/**
 * Cuts what a connection receives into HTTP/1.1 answers and reports the status of each. It reads what the servers under
 * load send, and no more: a length in the head, no chunks.
 */
export class AnswerReader {
  readonly #onAnswer: (status: number) => void
  #head = ''
  #status = 0
  #bytesMissing = 0

  constructor(onAnswer: (status: number) => void) {
    this.#onAnswer = onAnswer
  }

  read(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length)
      at = this.#bytesMissing > 0 ? this.#skipBody(chunk, at) : this.#readHead(chunk, at)
  }

  #readHead(chunk: Buffer, at: number): number {
    const before = this.#head.length
    const head = this.#head + chunk.toString('latin1', at)
    // The end may lie across two chunks.
    const end = head.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length))
    if (end < 0) {
      this.#head = head
      return chunk.length
    }
    this.#head = ''
    this.#status = Number(head.slice(9, 12))
    this.#bytesMissing = bodyLength(head.slice(0, end), this.#status)
    if (this.#bytesMissing === 0) this.#onAnswer(this.#status)
    return at + end + END_OF_HEAD.length - before
  }

  #skipBody(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#bytesMissing, chunk.length - at)
    this.#bytesMissing -= taken
    if (this.#bytesMissing === 0) this.#onAnswer(this.#status)
    return at + taken
  }
}

function bodyLength(head: string, status: number): number {
  const length = CONTENT_LENGTH.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  if (BODILESS.has(status)) return 0
  throw new Error(`an answer without Content-Length cannot be counted: ${head.split('\r\n', 1)[0]}`)
}
