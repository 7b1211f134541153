/** An HTTP response before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ByteStream
  /** The error code of the body, for the log. */
  readonly error?: string | undefined
}

/** A body of known length that is read while it is sent. */
export interface ByteStream {
  readonly length: number
  chunks(): AsyncIterable<Uint8Array>
}

/** A JSON object in a body. */
export type JsonObject = Readonly<Record<string, unknown>>

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }
const XML_HEADERS = { 'Content-Type': 'application/xml' }

export function jsonAnswer(body: JsonObject, status = 200): Answer {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(body) }
}

/** An error of the API. `details` are further members of its body. */
export function apiError(status: number, code: string, message: string, details: JsonObject = {}): Answer {
  return { ...jsonAnswer({ code, message, ...details }, status), error: code }
}

/** A field that is missing or wrong: 400 `InvalidParameter.<Name>`. */
export function invalidParameter(name: string, expected: string): Answer {
  return apiError(400, `InvalidParameter.${name}`, `The input parameter ${name} is not valid: ${expected}.`)
}

/** An error of the object store, which holds the parts and serves downloads. */
export function storeError(status: number, code: string, message: string): Answer {
  const fields = { Code: code, Message: message, RequestId: 'MOCK', HostId: 'mock-drive' }
  const lines = Object.entries(fields).map(([name, text]) => `  <${name}>${text}</${name}>`)
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>\n${lines.join('\n')}\n</Error>\n`
  return { status, headers: XML_HEADERS, body, error: code }
}

/** The response for a path or a method that no endpoint takes. */
export function unroutedAnswer(status: 404 | 405, path: string, timestamp: string, allow?: string): Answer {
  const error = status === 404 ? 'Not Found' : 'Method Not Allowed'
  const answer = { ...jsonAnswer({ timestamp, status, error, path }, status), error }
  return allow === undefined ? answer : { ...answer, headers: { ...answer.headers, Allow: allow } }
}

/** Thrown by a check: the request is answered with it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.error ?? String(answer.status))
    this.answer = answer
  }
}
