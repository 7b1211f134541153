import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { ApiConnection } from '../http/api-connection.ts'
import { errorAnswer, toAppError } from '../http/errors.ts'
import { requestIdOf } from '../http/request-id.ts'
import { responseText, type ErrorFrame, type RequestFrame, type ResponseParts } from './frames.ts'

export interface SessionRequestsDeps {
  readonly api: Pick<ApiConnection, 'ask'>
  /** Throws when it is not certain that the session goes on: its user may have been disabled. */
  readonly requireCurrentEndings: () => void
}

/** A frame as it is sent. */
export interface AnswerFrame {
  readonly type: 'response' | 'error'
  readonly text: string
}

// docs/specification.md, Gateway
const MAX_IN_FLIGHT = 20

/** The requests of one session to the api. There is no queue: a request beyond the limit is refused. */
export class SessionRequests {
  readonly #deps: SessionRequestsDeps
  readonly #over = new AbortController()
  #inFlight = 0

  constructor(deps: SessionRequestsDeps) {
    this.#deps = deps
  }

  /** The frame that answers a request; undefined when the session has ended meanwhile. Never rejects. */
  async answer(frame: RequestFrame, identity: Identity): Promise<AnswerFrame | undefined> {
    if (this.#inFlight >= MAX_IN_FLIGHT) return failureFrame(frame, tooMany())
    this.#inFlight++
    try {
      return responseFrame(frame.id, await this.#ask(frame, identity))
    } catch (error) {
      return this.#over.signal.aborted ? undefined : failureFrame(frame, toAppError(error))
    } finally {
      this.#inFlight--
    }
  }

  /** Aborts the requests in flight. */
  abort(): void {
    this.#over.abort()
  }

  async #ask(frame: RequestFrame, identity: Identity) {
    const { api, requireCurrentEndings } = this.#deps
    requireCurrentEndings()
    return api.ask(frame, { identity, requestId: requestIdOf(frame.headers) }, this.#over.signal)
  }
}

/** An api that does not answer is a response with 503, as over HTTP; other failures are error frames. */
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
  const message = `The session has ${MAX_IN_FLIGHT} requests in flight already; wait for an answer.`
  return new AppError('rate_limited', 'too_many_requests', message)
}
