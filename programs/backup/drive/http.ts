import { once } from 'node:events'
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { WaitingClock } from '../../../src/kernel/clock.ts'

/** The connection failed, or there was no answer in time. The message has no URL, since URLs may carry signatures. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: HttpBody
  /** The whole call may take that long. */
  readonly timeoutMs?: number
  /** The longest time without a byte that is sent or received. */
  readonly idleMs: number
  readonly signal?: AbortSignal | undefined
  /** Called when bytes have moved. */
  readonly onMove?: () => void
}

export interface HttpBody {
  readonly size: number
  chunks(): AsyncIterable<Uint8Array>
}

/** A body in memory. */
export function textBody(text: string): HttpBody {
  const bytes = Buffer.from(text)
  return {
    size: bytes.length,
    async *chunks() {
      yield bytes
    },
  }
}

export interface HttpAnswer {
  readonly status: number
  header(name: string): string | undefined
  /** Limited to {@link MAX_ANSWER_BYTES}. */
  text(): Promise<string>
  /** The body as it arrives; rejects when the connection ends before the body does. */
  chunks(): AsyncIterable<Uint8Array>
  /** Gives the connection up when the body is not needed. */
  discard(): void
}

// A page of 200 files, and the URLs of 10,000 parts, are less.
const MAX_ANSWER_BYTES = 16 * 1_024 ** 2

/** Sends requests over kept connections. Redirects are not followed, since a token would go to another host. */
export class HttpClient {
  readonly #clock: WaitingClock
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: 4 }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: 4 }),
  }

  constructor(clock: WaitingClock) {
    this.#clock = clock
  }

  /** Resolves when the head of the answer has arrived. Throws a {@link ConnectionError}. */
  async send(call: HttpCall): Promise<HttpAnswer> {
    const watch = new Watch(this.#clock, call)
    try {
      const outgoing = this.#open(call, watch.signal)
      // The error may also come after the response, when the drive closes the connection before it has read the whole body.
      outgoing.on('error', () => undefined)
      const responded = once(outgoing, 'response').then(([response]) => response as IncomingMessage)
      const [response] = await Promise.all([responded, sendBody(outgoing, call.body, watch, responded)])
      watch.moved()
      return toAnswer(response, watch, () => release(outgoing, watch))
    } catch (error) {
      throw watch.cancel(error)
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  #open({ method, url, headers = {}, body }: HttpCall, signal: AbortSignal): ClientRequest {
    const target = new URL(url)
    const isTls = target.protocol === 'https:'
    const length = body ? { 'Content-Length': String(body.size) } : {}
    const options = { method, headers: { ...headers, ...length }, signal }
    return isTls
      ? httpsRequest(target, { ...options, agent: this.#agents['https:'] })
      : httpRequest(target, { ...options, agent: this.#agents['http:'] })
  }
}

/** Stops sending as soon as there is an answer: a refused part need not be sent to its end. */
async function sendBody(
  outgoing: ClientRequest,
  body: HttpBody | undefined,
  watch: Watch,
  responded: Promise<unknown>,
): Promise<void> {
  if (!body) return void outgoing.end()
  let isAnswered = false
  const answered = responded.then(
    () => void (isAnswered = true),
    () => void (isAnswered = true),
  )
  for await (const chunk of body.chunks()) {
    if (isAnswered) return
    if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain').catch(() => undefined), answered])
    watch.moved()
  }
  outgoing.end()
}

/** Ends a call whose answer was read. A request that was not sent to its end would keep its connection for ever. */
function release(outgoing: ClientRequest, watch: Watch): void {
  watch.end()
  if (!outgoing.writableEnded) outgoing.destroy()
}

function toAnswer(response: IncomingMessage, watch: Watch, end: () => void): HttpAnswer {
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name]
      return Array.isArray(value) ? value[0] : value
    },
    chunks: () => watchChunks(response, watch, end),
    discard() {
      end()
      response.destroy()
    },
    async text() {
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of watchChunks(response, watch, end)) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES)
          throw new ConnectionError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
      }
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}

async function* watchChunks(
  response: IncomingMessage,
  watch: Watch,
  end: () => void,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of response) {
      watch.moved()
      yield chunk as Buffer
    }
  } catch (error) {
    throw watch.failureOf(error)
  } finally {
    end()
  }
}

/** Aborts a call that takes too long. */
class Watch {
  readonly #clock: WaitingClock
  readonly #call: HttpCall
  readonly #aborting = new AbortController()
  readonly #ended = new AbortController()
  readonly #startedAt: number
  #movedAt: number
  #reason: string | undefined

  constructor(clock: WaitingClock, call: HttpCall) {
    this.#clock = clock
    this.#call = call
    this.#startedAt = this.#movedAt = clock.monotonic()
    if (call.signal?.aborted) this.#interrupt()
    call.signal?.addEventListener('abort', this.#interrupt, { once: true, signal: this.#ended.signal })
    void this.#run()
  }

  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  moved(): void {
    this.#movedAt = this.#clock.monotonic()
    this.#call.onMove?.()
  }

  end(): void {
    this.#ended.abort()
  }

  /** Closes the connection of a call that has failed, and returns its error. */
  cancel(error: unknown): unknown {
    this.end()
    this.#aborting.abort()
    return this.failureOf(error)
  }

  failureOf(error: unknown): unknown {
    if (this.#reason !== undefined) return new ConnectionError(this.#reason, { cause: error })
    if (error instanceof Error && ('syscall' in error || 'code' in error))
      return new ConnectionError(describe(error), { cause: error })
    return error
  }

  readonly #interrupt = (): void => this.#abort('the call was interrupted')

  #abort(reason: string): void {
    this.#reason ??= reason
    this.#aborting.abort()
  }

  async #run(): Promise<void> {
    const { timeoutMs = Number.POSITIVE_INFINITY, idleMs } = this.#call
    while (!this.#ended.signal.aborted) {
      const now = this.#clock.monotonic()
      const left = Math.min(this.#startedAt + timeoutMs, this.#movedAt + idleMs) - now
      if (left <= 0)
        return this.#abort(`there was no answer within ${Math.round((now - this.#startedAt) / 1_000)} s`)
      await this.#clock.wait(left, this.#ended.signal)
    }
  }
}

/** Returns only the code of a system error: its message may contain a host or a path of a signed URL. */
function describe(error: Error & { readonly code?: unknown }): string {
  return typeof error.code === 'string' ? `the connection failed (${error.code})` : 'the connection failed'
}
