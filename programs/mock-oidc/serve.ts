import type { IncomingMessage, ServerResponse } from 'node:http'
import { refused, type Answer } from './answers.ts'
import { BODY_LIMIT_BYTES, readBody, type ReadBody } from './body.ts'
import type { EndpointRequest, Provider } from './provider.ts'
import type { RequestLog } from './request-log.ts'
import type { Endpoint, Router } from './router.ts'
import type { ScenarioQueue, ScriptedScenario } from './scenario-script.ts'
import { SCENARIOS, type Outcome, type Scenario } from './scenarios.ts'
import { expirePresented } from './token.ts'

/** Everything that a request is answered with. */
export interface Desk {
  readonly provider: Provider
  readonly route: Router
  readonly scenarios: ScenarioQueue
  /** Aborted when what is still in flight can't be waited for any longer. */
  readonly cut: AbortSignal
  isClosing(): boolean
  readonly log: RequestLog | undefined
}

/** One request on its way to an answer. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint | undefined
  readonly scripted: ScriptedScenario | undefined
  readonly query: string
  readonly startedAt: number
}

/** Answers one request. Nothing that a client sends may end the process: what goes wrong is answered, too. */
export function serve(desk: Desk, request: IncomingMessage, response: ServerResponse): void {
  const { method = '', url = '' } = request
  const [path, query] = splitTarget(url)
  const { endpoint, answer } = desk.route(method, path)
  const scripted = answer || !endpoint ? undefined : desk.scenarios.take(endpoint.name)
  const visit = { request, response, endpoint, scripted, query, startedAt: desk.provider.clock.monotonic() }
  if (answer) finish(desk, visit, answer)
  else if (endpoint.methods.includes('POST'))
    readBody(request, (body) => serveBody(desk, visit, endpoint, body))
  else serveBody(desk, visit, endpoint, NO_BODY)
}

const NO_BODY = Buffer.alloc(0)

// RFC 9112, section 3.2.2: a server must accept the absolute form, which clients send to proxies.
const ORIGIN = /^https?:\/\/[^/?]*/i

function splitTarget(target: string): [path: string, query: string] {
  const url = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const mark = url.indexOf('?')
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

function serveBody(desk: Desk, visit: Visit, endpoint: Endpoint, body: ReadBody): void {
  if (body === 'too_large') return finish(desk, visit, TOO_LARGE)
  if (body === 'cut_off') return finish(desk, visit, 'reset')
  const outcome = outcomeOf(desk, visit, endpoint, body)
  // Most answers are there at once, and waiting for them costs as much as making them.
  if (!(outcome instanceof Promise)) return finish(desk, visit, outcome)
  void outcome.catch(() => (desk.cut.aborted ? 'reset' : FAILED)).then((late) => finish(desk, visit, late))
}

function outcomeOf(desk: Desk, visit: Visit, endpoint: Endpoint, body: Buffer): Outcome | Promise<Outcome> {
  const received = { query: visit.query, headers: visit.request.headers, body }
  try {
    if (visit.scripted) return perform(desk, endpoint, visit.scripted, received)
    return endpoint.answer(desk.provider, received)
  } catch {
    return FAILED
  }
}

function finish(
  desk: Desk,
  { request, response, endpoint, scripted, startedAt }: Visit,
  outcome: Outcome,
): void {
  if (desk.isClosing()) response.shouldKeepAlive = false
  const sent = send(outcome, request, response)
  desk.log?.({
    method: request.method ?? '',
    endpoint: endpoint?.name ?? 'none',
    startedAt,
    scenario: scripted?.scenario,
    status: sent === 'reset' ? null : sent.status,
    refusal: sent === 'reset' ? undefined : sent.refusal,
  })
}

function perform(
  { provider, cut }: Desk,
  endpoint: Endpoint,
  { scenario, option }: ScriptedScenario,
  received: EndpointRequest,
): Promise<Outcome> {
  const { play }: Scenario = SCENARIOS[scenario]
  const performance = {
    answer: async () => endpoint.answer(provider, received),
    expireCode: () => expirePresented(provider, received),
    rotateKey: () => provider.keys.rotate(),
    signal: cut,
  }
  return play(performance, option)
}

/** Answers what was sent: `writeHead` throws for a header that HTTP cannot carry, before anything is written. */
function send(outcome: Outcome, request: IncomingMessage, response: ServerResponse): Outcome {
  if (outcome === 'reset') {
    request.socket.resetAndDestroy()
    return outcome
  }
  try {
    writeAnswer(outcome, response)
    return outcome
  } catch {
    writeAnswer(FAILED, response)
    return FAILED
  }
}

function writeAnswer({ status, headers, body }: Answer, response: ServerResponse): void {
  // RFC 9110, section 8.6: no length where there can be no body
  response.writeHead(
    status,
    status === 204 ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
  )
  response.end(body)
}

const TOO_LARGE: Answer = refused(
  413,
  { check: 'body', error: 'payload_too_large', code: 20063 },
  `it may have at most ${BODY_LIMIT_BYTES} bytes`,
)

const FAILED: Answer = refused(
  500,
  { check: 'server', error: 'server_error', code: 20050 },
  'this is a fault of the mock provider',
)
