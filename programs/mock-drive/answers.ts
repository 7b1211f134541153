import { jsonAnswer, type TextAnswer } from '../mock-server/answers.ts'

/** An HTTP response before it is sent. */
export interface Answer extends Omit<TextAnswer, 'body'> {
  readonly body: string | ByteStream
}

/** A body of known length that is read while it is sent. */
export interface ByteStream {
  readonly length: number
  chunks(): AsyncIterable<Uint8Array>
}

/** A JSON object in a body. */
export type JsonObject = Readonly<Record<string, unknown>>

const XML_HEADERS = { 'Content-Type': 'application/xml' }

/** An error of the API. `details` are further members of its body. */
export function apiError(
  status: number,
  code: string,
  message: string,
  details: JsonObject = {},
): TextAnswer {
  return jsonAnswer({ code, message, ...details }, status, code)
}

/** A field that is missing or wrong: 400 `InvalidParameter.<Name>`. */
export function invalidParameter(name: string, expected: string): TextAnswer {
  return apiError(400, `InvalidParameter.${name}`, `The input parameter ${name} is not valid: ${expected}.`)
}

/** An error of the object store, which holds the parts and serves downloads. */
export function storeError(status: number, code: string, message: string): TextAnswer {
  const fields = { Code: code, Message: message, RequestId: 'MOCK', HostId: 'mock-drive' }
  const lines = Object.entries(fields).map(([name, text]) => `  <${name}>${text}</${name}>`)
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>\n${lines.join('\n')}\n</Error>\n`
  return { status, headers: XML_HEADERS, body, error: code }
}

/** The response for a path or a method that no endpoint takes. */
export function unroutedAnswer(
  status: 404 | 405,
  path: string,
  timestamp: string,
  allow?: string,
): TextAnswer {
  const error = status === 404 ? 'Not Found' : 'Method Not Allowed'
  const answer = jsonAnswer({ timestamp, status, error, path }, status, error)
  return allow === undefined ? answer : { ...answer, headers: { ...answer.headers, Allow: allow } }
}
