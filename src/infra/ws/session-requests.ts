import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { ApiConnection } from '../http/api-connection.ts'
import { errorAnswer, toAppError } from '../http/errors.ts'
import { requestIdOf } from '../http/request-id.ts'
import { responseText, type ErrorFrame, type RequestFrame, type ResponseParts } from './frames.ts'

/** A frame as it goes out. */
export interface AnswerFrame {
  readonly type: 'response' | 'error'
  readonly text: string
}

// contract, section 5
const IN_FLIGHT_LIMIT = 20

/** The requests of one session to the api. Nothing waits in a queue: what is too much is refused. */
export class SessionRequests {
  readonly #api: Pick<ApiConnection, 'ask'>
  readonly #over = new AbortController()
  #inFlight = 0

  constructor(api: Pick<ApiConnection, 'ask'>) {
    this.#api = api
  }

  /** The frame that answers a request; undefined when the session has ended meanwhile. Never rejects. */
  async answer(frame: RequestFrame, identity: Identity): Promise<AnswerFrame | undefined> {
    if (this.#inFlight >= IN_FLIGHT_LIMIT) return failureFrame(frame, tooMany())
    this.#inFlight++
    try {
      return responseFrame(frame.id, await this.#ask(frame, identity))
    } catch (error) {
      return this.#over.signal.aborted ? undefined : failureFrame(frame, toAppError(error))
    } finally {
      this.#inFlight--
    }
  }

  /** Breaks off what is under way. */
  abort(): void {
    this.#over.abort()
  }

  #ask(frame: RequestFrame, identity: Identity) {
    return this.#api.ask(frame, { identity, requestId: requestIdOf(frame.headers) }, this.#over.signal)
  }
}

/** An api that is away answers 503, as it does through HTTP; for anything else there is no answer of the api. */
function failureFrame({ id }: RequestFrame, error: AppError): AnswerFrame {
  const { code, message } = error
  if (code !== 'api_unavailable') {
    return { type: 'error', text: JSON.stringify({ type: 'error', id, code, message } satisfies ErrorFrame) }
  }
  const { status, body } = errorAnswer(error)
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return responseFrame(id, { status, headers, text: JSON.stringify(body) })
}

function responseFrame(id: RequestFrame['id'], parts: ResponseParts): AnswerFrame {
  return { type: 'response', text: responseText(id, parts) }
}

function tooMany(): AppError {
  const message = `The session has ${IN_FLIGHT_LIMIT} requests in flight already; wait for an answer.`
  return new AppError('rate_limited', 'too_many_requests', message)
}
