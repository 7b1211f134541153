import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import type { StreamBody, StreamEnd, StreamOutput } from '../../wire/stream.ts'
import type { LongResponses } from './long-responses.ts'

export interface StreamResponseOptions {
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
  readonly over: Promise<StreamEnd>
  readonly #raw: ServerResponse
  readonly #resolve: (reason: StreamEnd) => void
  #isOver = false

  constructor(raw: ServerResponse) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.over = promise
    this.#resolve = resolve
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
    this.#resolve(reason)
    return true
  }
}
