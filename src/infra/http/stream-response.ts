import type { ServerResponse, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import type { StreamBody, StreamEnd, StreamOutput } from '../../wire/stream.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import { bearerToken } from './identity.ts'

interface StreamResponseOptions {
  readonly contentType: string
  /** Whether the response has an end of its own: one that is ended before must not look complete. */
  readonly isWhole?: boolean
  readonly longResponses: LongResponses
  readonly logger: Logger
}

// A client that reads receives the rest of a response in less time.
const FLUSH_MS = SECOND

/** Sends the head of a streamed response, and lets `body` write the rest. Resolves when the response has ended. */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  body: StreamBody,
  { contentType, isWhole = false, longResponses, logger }: StreamResponseOptions,
): Promise<void> {
  // Without this header proxies such as nginx would buffer the response.
  reply.code(200).type(contentType).header('x-accel-buffering', 'no').hijack()
  const { raw } = reply
  const output = new ResponseOutput(raw)
  raw.writeHead(200, reply.getHeaders() as Record<string, string>)
  if (request.method === 'HEAD') output.end('done')
  else raw.flushHeaders()
  const remove = longResponses.add(request.raw, (reason) => (isWhole ? output.cut() : output.end(reason)))
  try {
    await body(output)
  } catch (error) {
    logger.error({ request_id: request.id, error }, 'a streamed response failed')
  } finally {
    remove()
    output.end('done')
  }
}

/** Closes the connection of an ended response if its client does not read the rest in time. */
export function destroyUnlessFlushed(raw: ServerResponse): void {
  const limit = setTimeout(() => raw.destroy(), FLUSH_MS)
  for (const event of ['finish', 'close']) raw.once(event, () => clearTimeout(limit))
}

/** The response as its body sees it. */
class ResponseOutput implements StreamOutput {
  readonly #raw: ServerResponse
  readonly #end = Promise.withResolvers<StreamEnd>()
  readonly over = this.#end.promise
  #isOver = false

  constructor(raw: ServerResponse) {
    this.#raw = raw
    raw.once('close', () => this.#finish('client'))
    // After a write to a lost connection; `close` follows.
    raw.on('error', () => undefined)
    if (raw.destroyed) this.#finish('client')
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get unreadBytes(): number {
    return this.#raw.writableLength
  }

  write(chunk: Uint8Array | string): void {
    if (!this.#isOver) this.#raw.write(chunk)
  }

  async drained(): Promise<void> {
    if (this.#isOver || !this.#raw.writableNeedDrain) return
    const drained = Promise.withResolvers<void>()
    this.#raw.once('drain', drained.resolve)
    await Promise.race([drained.promise, this.over])
    this.#raw.off('drain', drained.resolve)
  }

  cut(): void {
    if (this.#finish('slow')) this.#raw.destroy()
  }

  /** Ends the response regularly; a client that does not read the rest is disconnected. */
  end(reason: StreamEnd): void {
    if (!this.#finish(reason)) return
    this.#raw.end()
    destroyUnlessFlushed(this.#raw)
  }

  #finish(reason: StreamEnd): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#end.resolve(reason)
    return true
  }
}

interface LongResponsesOptions {
  /** Verifies the tokens again; left out in a server whose callers have no tokens. */
  readonly authenticator?: Pick<Authenticator, 'authenticate'> | undefined
  readonly checkEveryMs?: number
}

/** Called once, when the token or the server ends the response. */
type EndResponse = (reason: StreamEnd) => void

interface LongResponse {
  readonly token: string | undefined
  readonly end: EndResponse
  /** How often in a row the token could not be verified, because its user could not be read. */
  unverified: number
}

// docs/specification.md, Identity: the tokens of a disabled user stop working within 10 s
const MAX_UNVERIFIED = 9

/**
 * The streamed responses of a server. It ends a response when the token of its caller expires or is revoked, and ends all of
 * them when the server stops, because the server waits for its responses.
 */
export class LongResponses {
  readonly #options: LongResponsesOptions
  readonly #responses = new Set<LongResponse>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: LongResponsesOptions) {
    this.#options = options
  }

  /** Calls `end` when the response has to end, unless the returned function was called before. */
  add(request: IncomingMessage, end: EndResponse): () => void {
    const { authorization } = request.headers
    const token = authorization === undefined ? undefined : bearerToken(authorization)
    const response: LongResponse = { token, end, unverified: 0 }
    if (this.#isClosed) {
      end('shutdown')
      return () => undefined
    }
    this.#responses.add(response)
    this.#timer ??= setInterval(() => this.#checkTokens(), this.#options.checkEveryMs ?? SECOND).unref()
    return () => this.#remove(response)
  }

  /** Ends all responses, and each that is added later. */
  close(): void {
    this.#isClosed = true
    for (const response of this.#responses) this.#end(response, 'shutdown')
  }

  #checkTokens(): void {
    for (const response of this.#responses) void this.#check(response)
  }

  async #check(response: LongResponse): Promise<void> {
    const { authenticator } = this.#options
    if (!authenticator || response.token === undefined) return
    try {
      const identity = authenticator.authenticate(response.token)
      // Usually synchronous, and then not awaited, because a thousand responses may be checked each second.
      if (identity instanceof Promise) await identity
      response.unverified = 0
    } catch (error) {
      const isTransient = error instanceof AppError && error.kind === 'unavailable'
      response.unverified++
      if (!isTransient || response.unverified > MAX_UNVERIFIED) this.#end(response, 'token')
    }
  }

  #end(response: LongResponse, reason: StreamEnd): void {
    if (this.#remove(response)) response.end(reason)
  }

  #remove(response: LongResponse): boolean {
    const isRemoved = this.#responses.delete(response)
    if (this.#responses.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    return isRemoved
  }
}
