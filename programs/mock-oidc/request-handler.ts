import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ListenerState } from '../mock-server/listener.ts'
import type { RequestLog } from '../mock-server/request-log.ts'
import type { ScenarioQueue, ScriptedScenario } from '../mock-server/scenario-script.ts'
import { errorAnswer, type Answer } from './answers.ts'
import type { EndpointName } from './endpoint-names.ts'
import type { EndpointRequest, Provider } from './provider.ts'
import type { Endpoint, Router } from './router.ts'
import { SCENARIOS, type Outcome, type Scenario, type ScenarioName } from './scenarios.ts'
import { expirePresentedCode } from './token.ts'

/** docs/specification.md, Mock provider */
const BODY_LIMIT_BYTES = 64 * 1_024

/** `too_large`: the rest is read and discarded. `aborted`: the connection closed before the end of the body. */
type BodyResult = Buffer | 'too_large' | 'aborted'

/** Calls `done` exactly once. */
function readBody(request: IncomingMessage, done: (body: BodyResult) => void): void {
  let chunks: Buffer[] = []
  let bytes = 0
  let isDone = false
  const finish = (body: BodyResult) => {
    if (isDone) return
    isDone = true
    done(body)
  }
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= BODY_LIMIT_BYTES) {
      chunks.push(chunk)
      return
    }
    chunks = []
    finish('too_large')
  })
  request.once('end', () => finish(concatChunks(chunks)))
  request.once('close', () => finish('aborted'))
  if (request.destroyed) finish('aborted')
}

function concatChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

/** What the handler needs for every request. */
export interface HandlerContext extends ListenerState {
  readonly provider: Provider
  readonly route: Router
  readonly scenarios: ScenarioQueue<EndpointName, ScenarioName>
  readonly log: RequestLog | undefined
}

interface PendingRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint | undefined
  readonly scripted: ScriptedScenario<EndpointName, ScenarioName> | undefined
  readonly query: string
  /** Monotonic milliseconds. */
  readonly startedAt: number
}

/** Answers one request. Never throws and leaves no promise without a handler: either would end the process. */
export function handleRequest(
  context: HandlerContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const [path, query] = splitTarget(request.url ?? '')
  const { endpoint, answer } = context.route(request.method ?? '', path)
  const scripted = answer || !endpoint ? undefined : context.scenarios.take(endpoint.name)
  const startedAt = context.provider.clock.monotonic()
  const pending = { request, response, endpoint, scripted, query, startedAt }
  if (answer) finish(context, pending, answer)
  else if (endpoint.methods.includes('POST'))
    readBody(request, (body) => answerRequest(context, pending, endpoint, body))
  else answerRequest(context, pending, endpoint, NO_BODY)
}

const NO_BODY = Buffer.alloc(0)
// RFC 9112, section 3.2.2: a server must accept the absolute form, which clients send to proxies.
const ORIGIN = /^https?:\/\/[^/?]*/i

function splitTarget(target: string): [path: string, query: string] {
  const url = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const mark = url.indexOf('?')
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

function answerRequest(
  context: HandlerContext,
  pending: PendingRequest,
  endpoint: Endpoint,
  body: BodyResult,
): void {
  if (body === 'too_large') return finish(context, pending, TOO_LARGE)
  if (body === 'aborted') return finish(context, pending, 'reset')
  const outcome = outcomeOf(context, pending, endpoint, body)
  // Most answers are available at once, and a promise would cost as much time as the answer itself.
  if (!(outcome instanceof Promise)) return finish(context, pending, outcome)
  void outcome
    .catch(() => (context.abortSignal.aborted ? 'reset' : INTERNAL_ERROR))
    .then((resolved) => finish(context, pending, resolved))
}

function outcomeOf(
  context: HandlerContext,
  { query, request, scripted }: PendingRequest,
  endpoint: Endpoint,
  body: Buffer,
): Outcome | Promise<Outcome> {
  const input = { method: request.method ?? '', query, headers: request.headers, body }
  try {
    if (scripted) return runScenario(context, endpoint, scripted, input)
    return endpoint.answer(context.provider, input)
  } catch {
    return INTERNAL_ERROR
  }
}

function runScenario(
  { provider, abortSignal }: HandlerContext,
  endpoint: Endpoint,
  { scenario, option }: ScriptedScenario<EndpointName, ScenarioName>,
  input: EndpointRequest,
): Promise<Outcome> {
  const { run }: Scenario = SCENARIOS[scenario]
  const scenarioContext = {
    answer: async () => endpoint.answer(provider, input),
    expireCode: () => expirePresentedCode(provider, input),
    rotateKey: () => provider.keys.rotate(),
    signal: abortSignal,
  }
  return run(scenarioContext, option)
}

function finish(
  context: HandlerContext,
  { request, response, endpoint, scripted, startedAt }: PendingRequest,
  outcome: Outcome,
): void {
  if (context.isClosing()) response.shouldKeepAlive = false
  const sent = send(outcome, request, response)
  context.log?.({
    method: request.method ?? '',
    endpoint: endpoint?.name ?? 'none',
    startedAt,
    scenario: scripted?.scenario,
    status: sent === 'reset' ? null : sent.status,
    refusal: sent === 'reset' ? undefined : sent.refusal,
  })
}

/** Returns what was sent. `writeHead` throws for a header that HTTP cannot carry, before anything is written. */
function send(outcome: Outcome, request: IncomingMessage, response: ServerResponse): Outcome {
  if (outcome === 'reset') {
    request.socket.resetAndDestroy()
    return outcome
  }
  try {
    writeAnswer(outcome, response)
    return outcome
  } catch {
    writeAnswer(INTERNAL_ERROR, response)
    return INTERNAL_ERROR
  }
}

function writeAnswer({ status, headers, body }: Answer, response: ServerResponse): void {
  // RFC 9110, section 8.6: no Content-Length with status 204
  const length = status === 204 ? undefined : { 'Content-Length': Buffer.byteLength(body) }
  response.writeHead(status, { ...headers, ...length })
  response.end(body)
}

const TOO_LARGE: Answer = errorAnswer(
  413,
  { check: 'body', error: 'payload_too_large', code: 20063 },
  `the limit is ${BODY_LIMIT_BYTES} bytes`,
)

const INTERNAL_ERROR: Answer = errorAnswer(
  500,
  { check: 'server', error: 'server_error', code: 20050 },
  'the mock provider has a defect',
)
