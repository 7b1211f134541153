import { isIP } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { createOutage, type Outage } from '../../kernel/outage.ts'
import { SECOND } from '../../kernel/time.ts'
import { EVENT_STREAM } from '../../wire/event-stream.ts'
import { endToEndHeaders, headersForApi, type Sender } from './headers-for-api.ts'

export interface ApiConnectionOptions {
  /** `http://…` or `https://…`, without a slash at its end. */
  readonly url: string
  readonly logger: Logger
  /** How long the api may be silent, in milliseconds. */
  readonly timeoutMs?: number
  /** Whether the api is known to be away: then a request fails at once and not after that time. */
  readonly isAway?: () => boolean
}

export interface ApiRequest {
  readonly method: string
  /** From the slash on, with the query; see `staysBelowPrefix`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Text is sent with its length; a stream with the framing that `headers` gives it. */
  readonly body: string | Readable | undefined
}

/** An answer whose body has begun; the caller reads or destroys it. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

// Longer than the api lets a request take; a call that waits for the store is answered within 5 s.
const TIMEOUT_MS = 30 * SECOND
// Further requests would only wait at the api; a session has at most 20. The api has up to 1,000 streams besides.
const MAX_CONNECTIONS = 2_048
// docs/specification.md, Gateway: a larger answer becomes an error
const MAX_ANSWER_BYTES = 1_048_576

/**
 * Sends requests to the api over connections that are kept open. Every method rejects with `api_unavailable` when the
 * api does not answer, after which it may have carried out the request nevertheless, or with the reason of `signal`.
 */
export class ApiConnection {
  readonly #url: URL
  readonly #prefix: string
  readonly #host: string
  readonly #servername: { readonly servername?: string }
  readonly #timeoutMs: number
  readonly #outage: Outage
  readonly #isAway: () => boolean
  #pool: Promise<Pool> | undefined

  constructor({ url: address, logger, timeoutMs = TIMEOUT_MS, isAway = () => false }: ApiConnectionOptions) {
    const url = new URL(address)
    this.#url = url
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#host = hostHeader(url)
    this.#servername = certificateName(url)
    this.#timeoutMs = timeoutMs
    this.#isAway = isAway
    this.#outage = createOutage(
      logger,
      { api: url.origin },
      { fails: 'the api does not answer', worksAgain: 'the api answers again' },
    )
  }

  /** Resolves with the response once its head is there; the caller reads or destroys its body. */
  async send(request: ApiRequest, sender: Sender, signal: AbortSignal): Promise<ApiResponse> {
    if (this.#isAway()) throw apiUnavailable(new Error('The api is known to be away.'))
    try {
      const { statusCode, headers, body } = await this.#sendTwice(request, sender, signal)
      this.#outage.works()
      // An error before anybody reads it would end the program.
      body.on('error', () => undefined)
      return { status: statusCode, headers, body }
    } catch (error) {
      throw this.#failure(error, signal)
    }
  }

  /**
   * The whole answer as text. Before it is read, `reserve` is called with its size in bytes, and waited for. Rejects with
   * `answer_too_large` too.
   */
  async ask(
    request: ApiRequest,
    sender: Sender,
    signal: AbortSignal,
    reserve: (bytes: number) => Promise<void>,
  ): Promise<ApiAnswer> {
    const response = await this.send(request, sender, signal)
    try {
      requireEnd(response)
      await reserve(sizeOf(response))
      return { status: response.status, headers: singleHeaders(response), text: await readText(response) }
    } catch (error) {
      response.body.destroy()
      throw this.#failure(error, signal)
    }
  }

  /** Closes the connections; may be called twice. */
  close(): void {
    void this.#pool?.then((pool) => pool.destroy())
  }

  /** The api may close a kept connection while a request is on its way, which can be sent again if it changes nothing. */
  async #sendTwice(
    request: ApiRequest,
    sender: Sender,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#sendOnce(request, sender, signal)
    } catch (error) {
      if (!isRepeatable(request) || !hasClosed(error)) throw error
      return this.#sendOnce(request, sender, signal)
    }
  }

  async #sendOnce(
    request: ApiRequest,
    sender: Sender,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { method, path, headers, body } = request
    this.#pool ??= this.#open()
    return (await this.#pool).request({
      ...this.#servername,
      method,
      path: `${this.#prefix}${path}`,
      headers: { ...headersForApi(headers, sender, this.#host), ...lengthOf(request) },
      // A stream of its own: when the api fails, the connection of the client has to survive for the answer.
      body: typeof body === 'object' ? pipeOf(body) : (body ?? null),
      signal,
    })
  }

  /** Loaded with the first request: at the start it would take as long as half of all other modules. */
  async #open(): Promise<Pool> {
    const { Pool: Connections } = await import('undici')
    return new Connections(this.#url.origin, {
      connections: MAX_CONNECTIONS,
      allowH2: false,
      connect: { timeout: this.#timeoutMs, rejectUnauthorized: true },
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
    })
  }

  #failure(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted || error instanceof AppError) return error
    this.#outage.fails(error)
    return apiUnavailable(error)
  }
}

function isRepeatable({ method, body }: ApiRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && body === undefined
}

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function hasClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CLOSED.has(error.code)
}

function pipeOf(body: Readable): Readable {
  const pipe = new PassThrough()
  body.once('error', (error) => pipe.destroy(error))
  return body.pipe(pipe)
}

/** The length of a body that is passed on. */
function lengthOf({ headers, body }: ApiRequest): Record<string, string> {
  const length = headers['content-length']
  return typeof body === 'object' && typeof length === 'string' ? { 'content-length': length } : {}
}

function apiUnavailable(cause: unknown): AppError {
  const message =
    'The api behind this gateway does not answer; it may have carried out the request nevertheless.'
  return new AppError('unavailable', 'api_unavailable', message, { cause })
}

/** A stream of events has no end, so no frame can hold it. */
function requireEnd(response: ApiResponse): void {
  if (!isEventStream(response)) return
  throw new AppError('too_large', 'answer_too_large', 'A stream of events does not fit into a frame.')
}

export function isEventStream({ headers: { 'content-type': type } }: ApiResponse): boolean {
  return typeof type === 'string' && type.startsWith(EVENT_STREAM)
}

/** As announced, otherwise as large as it may be. */
function sizeOf({ headers }: ApiResponse): number {
  return Math.min(Number(headers['content-length'] ?? MAX_ANSWER_BYTES), MAX_ANSWER_BYTES)
}

function readText({ body }: ApiResponse): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let bytes = 0
  // Not by an iterator, which takes as long as all the rest of an exchange.
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes > MAX_ANSWER_BYTES) body.destroy(answerTooLarge())
  })
  body.once('end', () => resolve(Buffer.concat(chunks, bytes).toString()))
  body.once('error', reject)
  if (body.errored) reject(body.errored)
  return promise
}

function answerTooLarge(): AppError {
  return new AppError('too_large', 'answer_too_large', 'The answer of the api is larger than 1 MiB.')
}

function singleHeaders({ headers }: ApiResponse): Record<string, string> {
  const entries = Object.entries(endToEndHeaders(headers))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : `${value}`]),
  )
}

/** The api accepts no name in `Host`: a web page could have led a browser to it (DNS rebinding). */
function hostHeader({ hostname, host, port }: URL): string {
  const isAddress = isIP(withoutBrackets(hostname)) !== 0
  if (isAddress || hostname === 'localhost') return host
  return port === '' ? 'localhost' : `localhost:${port}`
}

/** What the certificate is compared with; it would be the `Host` header. */
function certificateName({ protocol, hostname }: URL): { readonly servername?: string } {
  return protocol === 'https:' && isIP(withoutBrackets(hostname)) === 0 ? { servername: hostname } : {}
}

/** A URL has an IPv6 address in brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
