import { SIGNATURE_HEADER } from '../../src/kernel/identity-signature.ts'
import type { SignRequest } from './identity-key.ts'
import type { Options } from './options.ts'
import { ticketPage, ticketsOf, type TicketList, type TicketPage } from './tickets.ts'

const FETCH_TIMEOUT_MS = 30_000
// The most that the platform answers at once (docs/specification.md, Limits).
const MAX_PAGE = 1_000
const REPORT_TIMEOUT_MS = 10_000
// 500 tickets with long descriptions have a fraction of this.
const MAX_ANSWER_BYTES = 32 * 1_048_576
const MAX_QUOTE_CHARACTERS = 300

/** A request to the platform failed, or its answer is not usable. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
}

/** The body of `POST /alerts/report`. */
export interface Alert {
  readonly source: string
  readonly title: string
  readonly body: string
  readonly level: 'HIGH' | 'CLOSE'
  readonly server_addr: string
  readonly alarm_id: string
}

export interface RequestOptions extends Pick<Options, 'api' | 'identity'> {
  readonly signal: AbortSignal
  /** Proves the identity, which the platform else accepts only from a host that it trusts. */
  readonly sign?: SignRequest | undefined
  readonly timeoutMs?: number
}

export interface FetchOptions extends RequestOptions, Pick<Options, 'limit'> {}

/** Fetches the newest tickets, in as many pages as they need. Throws a FetchError with the reason. */
export async function fetchTickets(options: FetchOptions): Promise<TicketList> {
  const { limit, timeoutMs = FETCH_TIMEOUT_MS } = options
  const startedAt = performance.now()
  const tickets: unknown[] = []
  let cursor: string | undefined
  do {
    // The time limit covers all pages.
    const leftMs = cursor === undefined ? timeoutMs : timeoutMs - (performance.now() - startedAt)
    const page = await fetchPage({ ...options, timeoutMs: leftMs }, limit - tickets.length, cursor)
    tickets.push(...page.tickets)
    if (page.tickets.length === 0 || page.nextCursor === cursor) break
    cursor = page.nextCursor
  } while (cursor !== undefined && tickets.length < limit)
  return ticketsOf(tickets.slice(0, limit))
}

async function fetchPage(
  options: FetchOptions,
  limit: number,
  cursor: string | undefined,
): Promise<TicketPage> {
  const size = Math.min(limit, MAX_PAGE)
  const page = await getPage(options, size, cursor)
  // An API without pages returns as many tickets as were asked for.
  const isCut = !page.hasPages && size < limit && page.tickets.length >= size
  return isCut ? getPage(options, limit, cursor) : page
}

async function getPage(
  options: FetchOptions,
  limit: number,
  cursor: string | undefined,
): Promise<TicketPage> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const text = await request(options, { method: 'GET', path: `/tickets?limit=${limit}${after}` })
  const page = ticketPage(parseJson(text))
  if (!page) throw new FetchError('the answer holds no list of tickets')
  return page
}

/** Reports an alert to the platform. Throws a FetchError with the reason. */
export async function reportAlert(alert: Alert, options: RequestOptions): Promise<void> {
  await request(
    { timeoutMs: REPORT_TIMEOUT_MS, ...options },
    { method: 'POST', path: '/alerts/report', body: alert },
  )
}

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

/** The body of a successful answer. */
async function request(
  { api, identity, sign, signal, timeoutMs = FETCH_TIMEOUT_MS }: RequestOptions,
  { method, path, body }: Call,
): Promise<string> {
  const control = new AbortController()
  const timer = setTimeout(
    () => control.abort(`no answer within ${Math.round(timeoutMs) / 1_000} s`),
    timeoutMs,
  )
  const stop = () => control.abort('interrupted')
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const target = new URL(`${api}${path}`)
    const headers = identityHeaders(identity)
    const signature = sign?.({ method, url: `${target.pathname}${target.search}`, headers })
    const response = await fetch(target, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
        ...(signature !== undefined && { [SIGNATURE_HEADER]: signature }),
      },
      redirect: 'manual',
      signal: control.signal,
    })
    const text = await limitedText(response)
    if (!(method === 'GET' ? [200] : [200, 201]).includes(response.status))
      throw new FetchError(refusalText(response.status, text))
    return text
  } catch (error) {
    if (error instanceof FetchError) throw error
    const reason = control.signal.aborted ? String(control.signal.reason) : networkFailure(error)
    throw new FetchError(reason, { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The headers of a local tool (docs/specification.md, Identity). */
function identityHeaders({ name, roles }: Options['identity']): Record<string, string> {
  return { 'x-user-id': name, 'x-user-name': name, 'x-user-roles': roles }
}

/** With the `message` of the platform's error body. */
function refusalText(status: number, body: string): string {
  const message = messageIn(body)
  return message === undefined ? `HTTP status ${status}` : `HTTP status ${status}: ${message}`
}

function messageIn(body: string): string | undefined {
  try {
    const { message }: { readonly message?: unknown } = Object(JSON.parse(body))
    return typeof message === 'string' ? message.slice(0, MAX_QUOTE_CHARACTERS) : undefined
  } catch {
    return undefined
  }
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: ReadableStream<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new FetchError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FetchError('the answer is not valid JSON', { cause: error })
  }
}

function networkFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
