/** An HTTP response before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  /** The provider's code of an error, for the log. */
  readonly error?: string | undefined
}

export const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }

export function jsonAnswer(body: object, status = 200, error?: string): Answer {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(body), error }
}

/** Thrown by a rule of a provider: the request is answered with it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.error ?? String(answer.status))
    this.answer = answer
  }
}
