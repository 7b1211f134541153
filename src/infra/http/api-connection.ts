import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
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

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

// Longer than the api lets a request take; a call that waits for the store is answered within 5 s.
const TIMEOUT_MS = 30 * SECOND
// Further requests would only wait at the api; a session has at most 20. The api has up to 1,000 streams besides.
const AGENT = { keepAlive: true, maxSockets: 2_048 }
// docs/specification.md, Gateway: a larger answer becomes an error
const MAX_ANSWER_BYTES = 1_048_576

const TRANSPORTS = {
  'http:': { request: httpRequest, createAgent: () => new HttpAgent(AGENT) },
  'https:': { request: httpsRequest, createAgent: () => new HttpsAgent(AGENT) },
}

/**
 * Sends requests to the api over connections that are kept open. Every method rejects with `api_unavailable` when the
 * api does not answer, after which it may have carried out the request nevertheless, or with the reason of `signal`.
 */
export class ApiConnection {
  readonly #prefix: string
  readonly #host: string
  readonly #target: ApiTarget
  readonly #transport: (typeof TRANSPORTS)['http:' | 'https:']
  readonly #agent: HttpAgent | HttpsAgent
  readonly #outage: Outage
  readonly #isAway: () => boolean

  constructor({ url: address, logger, timeoutMs = TIMEOUT_MS, isAway = () => false }: ApiConnectionOptions) {
    this.#isAway = isAway
    const url = new URL(address)
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#host = hostHeader(url)
    this.#target = targetOf(url, timeoutMs)
    this.#transport = TRANSPORTS[url.protocol === 'https:' ? 'https:' : 'http:']
    this.#agent = this.#transport.createAgent()
    this.#outage = createOutage(
      logger,
      { api: url.origin },
      { fails: 'the api does not answer', worksAgain: 'the api answers again' },
    )
  }

  /** Resolves with the response once its head is there; the caller reads or destroys its body. */
  async send(request: ApiRequest, sender: Sender, signal: AbortSignal): Promise<IncomingMessage> {
    if (this.#isAway()) throw apiUnavailable(new Error('The api is known to be away.'))
    try {
      const response = await this.#sendOnce(request, sender, signal).catch((error: unknown) => {
        if (error instanceof StaleConnection) return this.#sendOnce(request, sender, signal)
        throw error
      })
      this.#outage.works()
      return response
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
      const text = await readText(response)
      return { status: response.statusCode ?? 502, headers: singleHeaders(response), text }
    } catch (error) {
      throw this.#failure(error, signal)
    }
  }

  /** Closes the connections; may be called twice. */
  close(): void {
    this.#agent.destroy()
  }

  #sendOnce(request: ApiRequest, sender: Sender, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, headers, body } = request
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = this.#transport.request({
      ...this.#target,
      method,
      path: `${this.#prefix}${path}`,
      headers: { ...headersForApi(headers, sender, this.#host), ...framingOf(request) },
      agent: this.#agent,
      signal,
    })
    outgoing.once('timeout', () =>
      outgoing.destroy(new Error(`The api was silent for ${this.#target.timeout} ms.`)),
    )
    outgoing.once('response', resolve)
    // Errors come after the response has begun too; then the response reports them to its reader.
    outgoing.on('error', (error) => reject(isStale(error, outgoing, request) ? new StaleConnection() : error))
    sendBody(outgoing, body)
    return promise
  }

  #failure(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted || error instanceof AppError) return error
    this.#outage.fails(error)
    return apiUnavailable(error)
  }
}

/** The api closed a kept connection while the request was on its way: it can be sent again. */
class StaleConnection extends Error {}

/** Only a request that changes nothing: the api may have received it. */
function isStale(error: Error, { reusedSocket }: ClientRequest, { method, body }: ApiRequest): boolean {
  const isRepeatable = (method === 'GET' || method === 'HEAD') && body === undefined
  return isRepeatable && reusedSocket && 'code' in error && error.code === 'ECONNRESET'
}

function sendBody(outgoing: ClientRequest, body: ApiRequest['body']): void {
  if (body === undefined || typeof body === 'string') return void outgoing.end(body)
  body.once('error', (error) => outgoing.destroy(error))
  // Not a pipeline: when the api fails, the client's connection has to survive for the answer.
  body.pipe(outgoing)
}

/**
 * The length of the body as it is sent. A request without a body must not be announced with one: the api would read the
 * next request as the body.
 */
function framingOf({ headers, body }: ApiRequest): Record<string, string | number> {
  if (body === undefined) return {}
  if (typeof body === 'string') return { 'content-length': Buffer.byteLength(body) }
  const length = headers['content-length']
  return typeof length === 'string' ? { 'content-length': length } : { 'transfer-encoding': 'chunked' }
}

function apiUnavailable(cause: unknown): AppError {
  const message =
    'The api behind this gateway does not answer; it may have carried out the request nevertheless.'
  return new AppError('unavailable', 'api_unavailable', message, { cause })
}

/** A stream of events has no end, so no frame can hold it. */
function requireEnd(response: IncomingMessage): void {
  if (!response.headers['content-type']?.startsWith(EVENT_STREAM)) return
  response.destroy()
  throw new AppError('too_large', 'answer_too_large', 'A stream of events does not fit into a frame.')
}

/** As announced, otherwise as large as it may be. */
function sizeOf({ headers }: IncomingMessage): number {
  return Math.min(Number(headers['content-length'] ?? MAX_ANSWER_BYTES), MAX_ANSWER_BYTES)
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop destroys the response.
    if (bytes > MAX_ANSWER_BYTES) throw answerTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes).toString()
}

function answerTooLarge(): AppError {
  return new AppError('too_large', 'answer_too_large', 'The answer of the api is larger than 1 MiB.')
}

function singleHeaders({ headers }: IncomingMessage): Record<string, string> {
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

interface ApiTarget {
  readonly hostname: string
  readonly port: string
  readonly servername?: string
  readonly timeout: number
  readonly rejectUnauthorized: true
}

function targetOf({ hostname: name, port, protocol }: URL, timeout: number): ApiTarget {
  const hostname = withoutBrackets(name)
  // Without it the certificate would be compared with the `Host` header.
  const servername = protocol === 'https:' && isIP(hostname) === 0 ? { servername: hostname } : {}
  return { hostname, port, ...servername, timeout, rejectUnauthorized: true }
}

/** A URL has an IPv6 address in brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
