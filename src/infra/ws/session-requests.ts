import { endOfTurn } from '../../kernel/waiting.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { ReserveAnswer } from '../http/api-client/answer-reader.ts'
import type { ApiConnection } from '../http/api-client/api-connection.ts'
import { errorAnswer, toAppError } from '../http/errors.ts'
import { requestIdOf } from '../http/request.ts'
import { receivedTrace, runInTrace } from '../../kernel/trace.ts'
import { responseText, type ErrorFrame, type RequestFrame, type ResponseParts } from './frames.ts'
import type { Budget } from './budget.ts'

export interface SessionRequestsDeps {
  /** The address of the client. */
  readonly address?: string
  readonly api: Pick<ApiConnection, 'ask'>
  /** Requests of all sessions that the api answers at once. */
  readonly exchanges: Budget
  /** Bytes of answers that are held for the clients of all sessions. */
  readonly outgoingBytes: Budget
  /** Throws when it is not certain that the session goes on: its user may have been disabled. */
  readonly requireCurrentEndings: () => void
}

/** A frame as it is sent. */
export interface AnswerFrame {
  readonly type: 'response' | 'error'
  readonly text: string
  /** Bytes of the gateway's budget; they are released once the frame is sent or dropped. */
  readonly reservedBytes: number
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
    const share = new AnswerShare(this.#deps.outgoingBytes, this.#over.signal)
    try {
      const answer = await runInTrace(receivedTrace(frame.headers), () =>
        this.#ask(frame, identity, (bytes) => share.reserve(bytes)),
      )
      return responseFrame(frame.id, answer, share.bytes)
    } catch (error) {
      share.release()
      return this.#over.signal.aborted ? undefined : failureFrame(frame, toAppError(error))
    } finally {
      this.#inFlight--
    }
  }

  /** Aborts the requests in flight. */
  abort(): void {
    this.#over.abort()
  }

  async #ask(frame: RequestFrame, identity: Identity, reserve: ReserveAnswer) {
    const { api, address, exchanges, requireCurrentEndings } = this.#deps
    const { signal } = this.#over
    if (!exchanges.tryReserve(1)) await exchanges.reserve(1, signal)
    try {
      await endOfTurn()
      requireCurrentEndings()
      const sender = {
        identity,
        requestId: requestIdOf(frame.headers),
        ...(address !== undefined && { address }),
      }
      return await api.ask(frame, sender, signal, reserve)
    } finally {
      exchanges.release(1)
    }
  }
}

/** What one answer has reserved of a budget. */
class AnswerShare {
  readonly #budget: Budget
  readonly #signal: AbortSignal
  #reservations = 0
  #bytes = 0

  constructor(budget: Budget, signal: AbortSignal) {
    this.#budget = budget
    this.#signal = signal
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Reserves room for the answer; undefined when it is free at once. An exchange that is repeated reserves again: the
   * former amount is released first, because repeated exchanges that wait for each other's amounts would never end.
   */
  reserve(bytes: number): Promise<void> | undefined {
    this.release()
    if (this.#budget.tryReserve(bytes)) {
      this.#bytes = bytes
      return undefined
    }
    const reservation = this.#reservations
    return this.#budget.reserve(bytes, this.#signal).then(() => {
      if (reservation === this.#reservations) this.#bytes = bytes
      else this.#budget.release(bytes)
    })
  }

  /** Releases what is reserved, and what a call of `reserve` still waits for as soon as it is granted. */
  release(): void {
    this.#reservations++
    this.#budget.release(this.#bytes)
    this.#bytes = 0
  }
}

/** An api that does not answer is a response with 503, as over HTTP; other failures are error frames. */
function failureFrame({ id }: RequestFrame, error: AppError): AnswerFrame {
  const { code, message } = error
  if (code !== 'api_unavailable') {
    const text = JSON.stringify({ type: 'error', id, code, message } satisfies ErrorFrame)
    return { type: 'error', text, reservedBytes: 0 }
  }
  const { status, body } = errorAnswer(error)
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return responseFrame(id, { status, headers, text: JSON.stringify(body) })
}

function responseFrame(id: RequestFrame['id'], parts: ResponseParts, reservedBytes = 0): AnswerFrame {
  return { type: 'response', text: responseText(id, parts), reservedBytes }
}

function tooMany(): AppError {
  const message = `The session has ${MAX_IN_FLIGHT} requests in flight already; wait for an answer.`
  return new AppError('rate_limited', 'too_many_requests', message)
}
