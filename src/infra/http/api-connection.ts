import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import { createOutage } from '../../kernel/outage.ts'
import { endToEndHeaders, headersForApi, type Sender } from './headers-for-api.ts'

export interface ApiConnectionOptions {
  /** `http://…` or `https://…`, without a slash at its end. */
  readonly url: string
  readonly logger: Logger
  /** How long the api may say nothing, in milliseconds. */
  readonly patienceMs?: number
}

export interface ApiRequest {
  readonly method: string
  /** From the slash on, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string | undefined
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** The way to the api: connections that are kept, and whether it answers. */
export interface ApiConnection {
  readonly url: URL
  /** What the api is told as `Host`: an address, for it believes nobody who calls it by a name. */
  readonly host: string
  readonly agents: { readonly 'http:': HttpAgent; readonly 'https:': HttpsAgent }
  /** What every request to the api has in common, however it is sent. */
  readonly requestOptions: ApiRequestOptions
  /**
   * Asks the api once. Rejects with `api_unavailable`, after which it may have carried out the request nevertheless,
   * with `answer_too_large`, or with the reason of `signal`.
   */
  ask(request: ApiRequest, sender: Sender, signal: AbortSignal): Promise<ApiAnswer>
  /** Notes that the api has answered. */
  answered(): void
  /** Notes that it has not; the error to tell of it. */
  failed(cause: unknown): AppError
  /** Cuts what is open; may be called twice. */
  close(): void
}

export interface ApiRequestOptions {
  readonly hostname: string
  readonly servername?: string
  readonly timeout: number
  readonly rejectUnauthorized: true
}

// Longer than the api lets a request take by itself; a call that waits for the store is answered within 5 s.
const PATIENCE_MS = 30 * SECOND
// More at once would only wait at the api; a session brings at most 20.
const KEPT = { keepAlive: true, maxSockets: 1_024 }
// contract, section 5: an answer over 1 MiB becomes an error
const ANSWER_LIMIT = 1_048_576

export function createApiConnection({
  url: address,
  logger,
  patienceMs = PATIENCE_MS,
}: ApiConnectionOptions): ApiConnection {
  const url = new URL(address)
  const agents = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) }
  const host = hostFor(url)
  const requestOptions = optionsFor(url, patienceMs)
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const agent = url.protocol === 'https:' ? agents['https:'] : agents['http:']
  const prefix = url.pathname.replace(/\/$/, '')
  const outage = createOutage(
    logger,
    { api: url.origin },
    { fails: 'the api does not answer', worksAgain: 'the api answers again' },
  )
  const failed = (cause: unknown) => {
    outage.fails(cause)
    return apiUnavailable(cause)
  }

  const exchange = ({ method, path, headers, body }: ApiRequest, sender: Sender, signal: AbortSignal) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const outgoing = send({
      ...requestOptions,
      port: url.port,
      method,
      path: `${prefix}${path}`,
      headers: { ...headersForApi(headers, sender, host), ...length },
      agent,
      signal,
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error(`It said nothing for ${patienceMs} ms.`)))
    const response = Promise.withResolvers<IncomingMessage>()
    outgoing.once('response', response.resolve)
    // Also after the response has begun, when nobody waits for it any more.
    outgoing.on('error', response.reject)
    outgoing.end(body)
    return response.promise
  }

  return {
    url,
    host,
    agents,
    requestOptions,
    answered: outage.works,
    failed,
    async ask(request, sender, signal) {
      try {
        const response = await exchange(request, sender, signal)
        const text = await readText(response)
        outage.works()
        return { status: response.statusCode ?? 502, headers: oneEach(response), text }
      } catch (error) {
        if (signal.aborted || error instanceof AppError) throw error
        throw failed(error)
      }
    },
    close() {
      for (const each of Object.values(agents)) each.destroy()
    },
  }
}

/** The api did not answer; what it did is not known. */
function apiUnavailable(cause: unknown): AppError {
  const message = 'The api behind this gateway does not answer; whether it did what was asked is not known.'
  return new AppError('unavailable', 'api_unavailable', message, { cause })
}

async function readText(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > ANSWER_LIMIT) {
      response.destroy()
      throw new AppError('too_large', 'answer_too_large', 'The answer of the api is larger than 1 MiB.')
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces, bytes).toString()
}

function oneEach({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(endToEndHeaders(headers))
  return Object.fromEntries(
    kept.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : `${value}`]),
  )
}

/** A name in `Host` is nothing that the api believes: a web page could have led a browser to it (DNS rebinding). */
function hostFor({ hostname, host, port }: URL): string {
  const isAddress = isIP(bareHost(hostname)) !== 0
  if (isAddress || hostname === 'localhost') return host
  return port === '' ? 'localhost' : `localhost:${port}`
}

function optionsFor({ hostname, protocol }: URL, timeout: number): ApiRequestOptions {
  const bare = bareHost(hostname)
  // Otherwise the certificate would be compared with `Host`.
  const servername = protocol === 'https:' && isIP(bare) === 0 ? { servername: bare } : {}
  return { hostname: bare, ...servername, timeout, rejectUnauthorized: true }
}

/** A URL writes an IPv6 address in brackets. */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
