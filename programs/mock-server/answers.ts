/** An HTTP response with a text as its body, before it is sent. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The error code of the body, for the log. */
  readonly error?: string | undefined
}

export const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }

export function jsonAnswer(body: object, status = 200, error?: string): TextAnswer {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(body), error }
}

/** Thrown by a check: the request is answered with it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly answer: TextAnswer

  constructor(answer: TextAnswer) {
    super(answer.error ?? String(answer.status))
    this.answer = answer
  }
}
