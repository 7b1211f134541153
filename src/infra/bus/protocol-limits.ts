/** Only a broken server sends longer lines: its own limit is 4 KiB, and INFO lists at most some hundred URLs. */
export const MAX_LINE_BYTES = 64 * 1_024

/** The server's documentation advises against a larger `max_payload`; the default is 1 MiB. */
export const MAX_PAYLOAD_BYTES = 8 * 1_024 * 1_024

const LINE_TOO_LONG = `the server sent a line of more than ${MAX_LINE_BYTES} bytes`
const PAYLOAD_TOO_LARGE = `the server announced a message of more than ${MAX_PAYLOAD_BYTES} bytes`
const PROTOCOL_VIOLATION = 'the server violated the protocol of NATS'

const VERBS = ['INFO', 'MSG', 'HMSG', 'PING', 'PONG', '+OK', '-ERR']
const LONGEST_VERB = 4
const ANNOUNCES_PAYLOAD = /^H?MSG[ \t]/i
const LINE_FEED = 10

/**
 * Follows the server's side of the NATS protocol and counts the bytes of the element that is not complete yet, which
 * the client has to keep (https://docs.nats.io/reference/reference-protocols/nats-protocol).
 */
export class ProtocolLimits {
  #line: Buffer[] = []
  #lineBytes = 0
  #beginning = ''
  #payloadBytes = 0

  /** Takes the next bytes; returns what is wrong with them, if anything. */
  check(chunk: Buffer): string | undefined {
    let at = 0
    while (at < chunk.length) {
      at += this.#skipPayload(chunk.length - at)
      const end = chunk.indexOf(LINE_FEED, at)
      this.#append(chunk.subarray(at, end === -1 ? chunk.length : end))
      const problem = this.#lineProblem()
      if (problem !== undefined || end === -1) return problem
      this.#endLine()
      if (this.#payloadBytes > MAX_PAYLOAD_BYTES) return PAYLOAD_TOO_LARGE
      at = end + 1
    }
    return undefined
  }

  #skipPayload(available: number): number {
    const skipped = Math.min(this.#payloadBytes, available)
    this.#payloadBytes -= skipped
    return skipped
  }

  #append(part: Buffer): void {
    if (part.length === 0) return
    this.#line.push(part)
    this.#lineBytes += part.length
    const missing = LONGEST_VERB - this.#beginning.length
    if (missing > 0) this.#beginning += part.toString('latin1', 0, missing)
  }

  #lineProblem(): string | undefined {
    if (this.#lineBytes > MAX_LINE_BYTES) return LINE_TOO_LONG
    return isBeginning(this.#beginning) ? undefined : PROTOCOL_VIOLATION
  }

  #endLine(): void {
    const line = Buffer.concat(this.#line, this.#lineBytes).toString('latin1')
    this.#payloadBytes = announcedBytes(line)
    this.#line = []
    this.#lineBytes = 0
    this.#beginning = ''
  }
}

/** Whether a line can begin like this. It may be empty: a line end follows each payload. */
function isBeginning(beginning: string): boolean {
  const start = beginning.toUpperCase()
  return start === '\r' || VERBS.some((verb) => verb.startsWith(start) || start.startsWith(verb))
}

/** `MSG` and `HMSG` end with the number of bytes that follow. */
function announcedBytes(line: string): number {
  if (!ANNOUNCES_PAYLOAD.test(line)) return 0
  const trimmed = line.trimEnd()
  const last = trimmed.slice(Math.max(trimmed.lastIndexOf(' '), trimmed.lastIndexOf('\t')) + 1)
  return /^\d+$/.test(last) ? Number(last) : 0
}
