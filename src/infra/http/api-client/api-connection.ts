import { isIP } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import { systemClock, type Clock } from '../../../kernel/clock.ts'
import { AppError, errorCode } from '../../../kernel/errors.ts'
import { type Logger, createOutage, type Outage } from '../../../kernel/logger.ts'
import { SECOND } from '../../../kernel/time.ts'
import type { IdentitySignature } from '../../tokens/identity-signature.ts'
import { AnswerReader, type ApiAnswer, type ReserveAnswer } from './answer-reader.ts'
import { lettersOf, headersForApi, type Sender } from './headers-for-api.ts'

export interface ApiConnectionOptions {
  /** `http://…` or `https://…`, without a slash at its end. */
  readonly url: string
  readonly logger: Logger
  /** Signs what the requests say of their senders, if the api is of the same installation. */
  readonly signature?: Pick<IdentitySignature, 'sign'> | undefined
  /** How long the api may be silent, in milliseconds. */
  readonly timeoutMs?: number
  /** Whether the api is known to be away: then a request fails at once and not after that time. */
  readonly isAway?: () => boolean
  /** That of the process, where it is left out. */
  readonly clock?: Clock
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

// Longer than the api lets a request take; a call that waits for the store is answered within 5 s.
const TIMEOUT_MS = 30 * SECOND
// Further requests would only wait at the api; a session has at most 20. The api has up to 1,000 streams besides.
const MAX_CONNECTIONS = 2_048

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
  readonly #signature: Pick<IdentitySignature, 'sign'> | undefined
  #pool: Pool | undefined
  #opening: Promise<Pool> | undefined

  constructor(options: ApiConnectionOptions) {
    const { url: address, logger, signature, timeoutMs = TIMEOUT_MS, isAway = () => false } = options
    const { clock = systemClock } = options
    const url = new URL(address)
    this.#signature = signature
    this.#url = url
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#host = hostHeader(url)
    this.#servername = certificateName(url)
    this.#timeoutMs = timeoutMs
    this.#isAway = isAway
    this.#outage = createOutage(logger, 'api', { clock, api: url.origin })
  }

  /** Resolves with the response once its head is there; the caller reads or destroys its body. */
  async send(request: ApiRequest, sender: Sender, signal: AbortSignal): Promise<ApiResponse> {
    const { statusCode, headers, body } = await this.#exchange(request, signal, (pool) =>
      pool.request({ ...this.#optionsOf(request, sender), signal }),
    )
    // An error before anybody reads it would end the program.
    body.on('error', () => undefined)
    return { status: statusCode, headers, body }
  }

  /**
   * The whole answer as text. Before it is read, `reserve` is called with its size in bytes, and waited for. Rejects with
   * `answer_too_large` too.
   */
  ask(
    request: ApiRequest,
    sender: Sender,
    signal: AbortSignal,
    reserve: ReserveAnswer = () => undefined,
  ): Promise<ApiAnswer> {
    return this.#exchange(request, signal, (pool) => {
      const reader = new AnswerReader(signal, reserve)
      pool.dispatch(this.#optionsOf(withoutCodings(request), sender), reader)
      return reader.answer
    })
  }

  /** Closes the connections; may be called twice. */
  close(): void {
    void this.#opening?.then((pool) => pool.destroy())
  }

  async #exchange<T>(
    request: ApiRequest,
    signal: AbortSignal,
    exchange: (pool: Pool) => Promise<T>,
  ): Promise<T> {
    if (this.#isAway()) throw apiUnavailable(new Error('The api is known to be away.'))
    try {
      const pool = this.#pool ?? (await this.#open())
      signal.throwIfAborted()
      const answer = await exchange(pool).catch((error: unknown) => {
        if (!isRepeatable(request) || !hasClosed(error)) throw error
        return exchange(pool)
      })
      this.#outage.works()
      return answer
    } catch (error) {
      throw this.#failure(error, request, signal)
    }
  }

  #optionsOf(request: ApiRequest, sender: Sender): Dispatcher.RequestOptions {
    const { method, path, headers, body } = request
    return {
      ...this.#servername,
      method,
      path: `${this.#prefix}${path}`,
      headers: { ...headersForApi(headers, sender, this.#host, this.#signature), ...lengthOf(request) },
      // A stream of its own: when the api fails, the connection of the client has to survive for the answer.
      body: typeof body === 'object' ? pipeOf(body) : (body ?? null),
    }
  }

  /** Loaded with the first request: at the start it would take as long as half of all other modules. */
  #open(): Promise<Pool> {
    this.#opening ??= import('undici').then(({ Pool: Connections }) => {
      this.#pool = new Connections(this.#url.origin, {
        connections: MAX_CONNECTIONS,
        allowH2: false,
        connect: { timeout: this.#timeoutMs, rejectUnauthorized: true },
        headersTimeout: this.#timeoutMs,
        bodyTimeout: this.#timeoutMs,
      })
      return this.#pool
    })
    return this.#opening
  }

  #failure(error: unknown, { body }: ApiRequest, signal: AbortSignal): unknown {
    const isOfSender = signal.aborted || (typeof body === 'object' && body.errored === error)
    if (isOfSender || error instanceof AppError) return error
    this.#outage.fails(error)
    return apiUnavailable(error)
  }
}

/** The answer is read as text, which one with a content coding is not. */
function withoutCodings(request: ApiRequest): ApiRequest {
  const headers = Object.entries(request.headers).filter(([name]) => lettersOf(name) !== 'acceptencoding')
  return { ...request, headers: Object.fromEntries(headers) }
}

/** The api may close a kept connection while a request is on its way, which can be sent again if it changes nothing. */
function isRepeatable({ method, body }: ApiRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && body === undefined
}

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function hasClosed(error: unknown): boolean {
  return CLOSED.has(errorCode(error))
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
