import type { Dispatcher } from 'undici'
import { AppError } from '../../../kernel/errors.ts'
import { EVENT_STREAM } from '../../../wire/event-stream.ts'
import { endToEndHeaders } from './headers-for-api.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Called with the size of an answer in bytes before it is read; undefined when there is room for it at once. */
export type ReserveAnswer = (bytes: number) => Promise<void> | undefined

type Headers = Readonly<Record<string, string | string[] | undefined>>

// docs/specification.md, Gateway: a larger answer becomes an error
const MAX_ANSWER_BYTES = 1_048_576

/** Reads the answer to one request as text. Without a stream, which takes as long as all the rest of an exchange. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #reserve: ReserveAnswer
  readonly #signal: AbortSignal
  readonly #answer = Promise.withResolvers<ApiAnswer>()
  readonly #abort = () => this.#fail(this.#signal.reason)
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: Headers = {}
  #bytes = 0
  #isOver = false

  /** `signal` is not aborted yet. */
  constructor(signal: AbortSignal, reserve: ReserveAnswer) {
    this.#reserve = reserve
    this.#signal = signal
    signal.addEventListener('abort', this.#abort)
  }

  /** Rejects with the error of the connection, of `reserve`, with the reason of the signal, `answer_too_large` or `stream_in_session`. */
  get answer(): Promise<ApiAnswer> {
    return this.#answer.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(abortError())
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // An interim response, such as 103.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (isEventStream(headers)) return this.#fail(streamInSession())
    const reserved = this.#reserve(sizeOf(headers))
    if (!reserved) return
    controller.pause()
    reserved.then(
      () => controller.resume(),
      (error: unknown) => this.#fail(error),
    )
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#bytes > MAX_ANSWER_BYTES) this.#fail(tooLarge('The answer of the api is larger than 1 MiB.'))
  }

  onResponseEnd(): void {
    if (!this.#finish()) return
    const [chunk = EMPTY] = this.#chunks
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks, this.#bytes) : chunk
    const headers = singleHeaders(endToEndHeaders(this.#headers))
    this.#answer.resolve({ status: this.#status, headers, text: body.toString() })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#finish()) this.#answer.reject(error)
  }

  #fail(error: unknown): void {
    if (!this.#finish()) return
    this.#answer.reject(error)
    this.#controller?.abort(abortError())
  }

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#abort)
    return true
  }
}

const EMPTY = Buffer.alloc(0)

/** For the connection, which closes. */
function abortError(): Error {
  return new Error('The request was cancelled before its answer was complete.')
}

export function isEventStream({ 'content-type': type }: Headers): boolean {
  return typeof type === 'string' && type.startsWith(EVENT_STREAM)
}

/** The size that the answer announces, otherwise the largest that it may have. */
function sizeOf({ 'content-length': length }: Headers): number {
  return Math.min(Number(length ?? MAX_ANSWER_BYTES), MAX_ANSWER_BYTES)
}

function singleHeaders(headers: Headers): Record<string, string> {
  const single: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    single[name] = Array.isArray(value) ? value.join(', ') : `${value}`
  return single
}

function streamInSession(): AppError {
  const message =
    'A session carries no stream of events; request it from the gateway over HTTP, with the same token.'
  return new AppError('conflict', 'stream_in_session', message)
}

function tooLarge(message: string): AppError {
  return new AppError('too_large', 'answer_too_large', message)
}
