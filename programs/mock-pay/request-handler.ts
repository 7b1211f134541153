import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import type { ListenerState } from '../mock-server/listener.ts'
import type { RequestLog } from '../mock-server/request-log.ts'
import { jsonAnswer, Refusal } from '../mock-server/answers.ts'
import { ACTIONS, type Book } from './book.ts'
import type { Callbacks } from './callbacks.ts'
import { listPage, notFoundPage, paymentPage } from './page.ts'
import type { Channel } from './channels.ts'
import type { Answer, Changes, Endpoint, Provider, ProviderRequest } from './provider.ts'
import type { Script, ScriptedScenario } from './scenarios.ts'

export interface HandlerContext extends ListenerState {
  readonly book: Book
  readonly callbacks: Callbacks
  readonly clock: WaitingClock
  readonly providers: readonly Provider[]
  readonly script: Script
  readonly log: RequestLog | undefined
}

/** `reset` resets the connection instead of answering. `slowMs`: the body comes that much after the head. */
type Outcome = (Answer & { readonly slowMs?: number }) | 'reset'

interface Handled {
  readonly endpoint: string
  readonly outcome: Outcome
  readonly scenario?: string | undefined
}

const BODY_LIMIT_BYTES = 64 * 1_024
// Only the path and the query are read.
const BASE = 'http://mock'
const NO_CHANGES: Changes = { bill: undefined, refundFails: false }

/** Answers one request. Never rejects: that would end the process. */
export async function handleRequest(
  context: HandlerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = context.clock.monotonic()
  const handled = await handle(context, request).catch((): Handled => ({
    endpoint: 'none',
    outcome: context.abortSignal.aborted ? 'reset' : INTERNAL_ERROR,
  }))
  const { endpoint, outcome, scenario } = handled
  if (context.isClosing()) response.shouldKeepAlive = false
  if (outcome === 'reset') request.socket.resetAndDestroy()
  else await send(context, response, outcome)
  const status = outcome === 'reset' ? null : outcome.status
  const error = outcome === 'reset' ? undefined : outcome.error
  context.log?.({ method: request.method ?? '', endpoint, status, startedAt, scenario, refusal: { error } })
}

async function handle(context: HandlerContext, request: IncomingMessage): Promise<Handled> {
  const body = await readBody(request)
  if (body === undefined) return { endpoint: 'none', outcome: TOO_LARGE }
  const target = request.url ?? '/'
  if (!URL.canParse(target, BASE)) return { endpoint: 'none', outcome: NOT_FOUND }
  const { pathname: path, searchParams: query } = new URL(target, BASE)
  const received = { method: request.method ?? '', path, query, headers: request.headers, body }
  const page = pageOf(context, received)
  if (page) return { endpoint: 'page', outcome: page }
  try {
    for (const provider of context.providers) {
      const endpoint = provider.endpointOf(received)
      if (endpoint) return await callOf(context, provider, endpoint, received)
    }
  } catch (error) {
    if (error instanceof Refusal) return { endpoint: 'none', outcome: error.answer }
    throw error
  }
  return { endpoint: 'none', outcome: NOT_FOUND }
}

const PAGE = /^\/pay\/([A-Za-z0-9_-]{1,64})$/

/** The pages for persons. */
function pageOf({ book }: HandlerContext, { method, path, body }: ProviderRequest): Answer | undefined {
  if (path === '/' && method === 'GET') return listPage(book.payments())
  const token = PAGE.exec(path)?.[1]
  if (token === undefined) return undefined
  const payment = book.ofToken(token)
  if (!payment) return notFoundPage()
  if (method === 'GET') {
    // A payer who opens the page has scanned the code.
    payment.isScanned = true
    return paymentPage(payment)
  }
  const action = ACTIONS.find((each) => each === new URLSearchParams(body).get('action'))
  if (method !== 'POST' || action === undefined) return { ...paymentPage(payment), status: 400 }
  book.act(payment, action)
  const isDone = payment.status === 'paid' || payment.status === 'processing'
  const location = isDone && payment.returnUrl !== undefined ? payment.returnUrl : path
  return { status: 303, headers: { Location: location }, body: '' }
}

async function callOf(
  context: HandlerContext,
  provider: Provider,
  endpoint: Endpoint,
  request: ProviderRequest,
): Promise<Handled> {
  const { operation } = endpoint
  const scripted = operation && context.script.take(provider.channel, operation)
  const name = `${provider.channel}_${operation ?? 'file'}`
  const outcome = await outcomeOf(context, provider, endpoint, request, scripted).catch(toRefused)
  return { endpoint: name, outcome, scenario: scripted?.kind }
}

/** The answer of a refusal; throws what is none. */
function toRefused(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer
  throw error
}

async function outcomeOf(
  { book, callbacks, clock, abortSignal }: HandlerContext,
  provider: Provider,
  { operation, answer }: Endpoint,
  request: ProviderRequest,
  scripted: ScriptedScenario | undefined,
): Promise<Outcome> {
  switch (scripted?.kind) {
    case '429':
    case '500':
      return provider.fault(request, scripted.kind)
    case 'fail':
      return operation === 'refund'
        ? answer({ ...NO_CHANGES, refundFails: true })
        : provider.fault(request, 'fail')
    case 'reset':
      // The request is carried out; only its response is lost.
      answer(NO_CHANGES)
      return 'reset'
    case 'reset_before':
      return 'reset'
    case 'delay': {
      const regular = answer(NO_CHANGES)
      await clock.wait(scripted.delayMs, abortSignal)
      return regular
    }
    case 'slow':
      return { ...answer(NO_CHANGES), slowMs: scripted.delayMs }
    case 'early':
    case 'late': {
      const regular = answer(NO_CHANGES)
      const payment = paymentOf(book, provider.channel, request)
      if (payment && regular.status < 300) book.pay(payment)
      if (scripted.kind === 'early') await callbacks.settled()
      return regular
    }
    case 'wrong_amount':
      book.payMore(paymentOf(book, provider.channel, request)?.id ?? '')
      return answer(NO_CHANGES)
    case 'no_bill':
      return answer({ ...NO_CHANGES, bill: 'none' })
    case 'bill_differs':
      return answer({ ...NO_CHANGES, bill: 'differs' })
    default:
      return answer(NO_CHANGES)
  }
}

/** The payment that a call is about: the texts of the three providers have its number or its id. */
function paymentOf(book: Book, channel: Channel, { path, body }: ProviderRequest) {
  const text = `${path} ${new URLSearchParams(body).get('biz_content') ?? body}`
  return book
    .payments()
    .find((each) => each.channel === channel && (text.includes(each.number) || text.includes(each.id)))
}

/** Undefined for a body above the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk as Buffer)
  }
  return bytes <= BODY_LIMIT_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined
}

async function send(
  { clock, abortSignal }: HandlerContext,
  response: ServerResponse,
  { status, headers, body, slowMs = 0 }: Answer & { readonly slowMs?: number },
): Promise<void> {
  // RFC 9110, section 8.6: no Content-Length with status 204
  const length = status === 204 ? undefined : { 'Content-Length': Buffer.byteLength(body) }
  response.writeHead(status, { ...headers, ...length })
  if (slowMs > 0) {
    response.flushHeaders()
    await clock.wait(slowMs, abortSignal)
  }
  response.end(body)
}

const TOO_LARGE = jsonAnswer({ error: `the limit is ${BODY_LIMIT_BYTES} bytes` }, 413, 'too_large')
const NOT_FOUND = jsonAnswer({ error: 'none of the three providers has this path' }, 404, 'not_found')
const INTERNAL_ERROR = jsonAnswer({ error: 'the mock has a defect' }, 500, 'defect')
