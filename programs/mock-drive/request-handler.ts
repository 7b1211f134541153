import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'
import type { ListenerState } from '../mock-server/listener.ts'
import { FORM_TYPE, JSON_TYPE, mediaType } from '../mock-server/media-type.ts'
import type { RequestLog } from '../mock-server/request-log.ts'
import type { ScenarioQueue, ScriptedScenario } from '../mock-server/scenario-script.ts'
import { Refusal } from '../mock-server/answers.ts'
import { apiError, unroutedAnswer, type Answer, type ByteStream } from './answers.ts'
import type { MockDrive } from './drive.ts'
import type { EndpointName } from './endpoint-names.ts'
import { endpointAt, type Endpoint } from './endpoint.ts'
import { requireAccessToken } from './endpoints/oauth.ts'
import { Fields } from './fields.ts'
import { SCENARIOS, type Outcome, type Scenario, type ScenarioName } from './scenarios.ts'

/** What the handler needs for every request. */
export interface HandlerContext extends ListenerState {
  readonly drive: MockDrive
  readonly baseUrl: string
  readonly scenarios: ScenarioQueue<EndpointName, ScenarioName>
  readonly log: RequestLog | undefined
}

interface PendingRequest {
  readonly request: IncomingMessage
  readonly path: string
  readonly query: URLSearchParams
  /** The body; leaving the loop early keeps the connection. */
  readonly content: AsyncIterable<Uint8Array>
}

/** Answers one request. Never throws and leaves no promise without a handler: either would end the process. */
export function handleRequest(
  context: HandlerContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const startedAt = context.drive.clock.monotonic()
  // A client that closes the connection is no error of the server.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  const pending = parseRequest(request)
  const endpoint = endpointAt(pending.path)
  const routed = endpoint?.method === request.method ? endpoint : undefined
  const scripted = routed && context.scenarios.take(routed.name)
  const outcome = routed
    ? outcomeOf(context, pending, routed, scripted)
    : Promise.resolve(answerUnrouted(context, pending.path, endpoint))
  void outcome
    .then((resolved) => send(context, request, response, resolved))
    .catch(() => 'reset' as const)
    .then((sent) => {
      if (sent === 'reset') request.socket.resetAndDestroy()
      context.log?.({
        method: request.method ?? '',
        endpoint: endpoint?.name ?? 'none',
        startedAt,
        scenario: scripted?.scenario,
        status: sent === 'reset' ? null : sent.status,
        refusal: sent === 'reset' ? undefined : { error: sent.error },
      })
    })
}

// RFC 9112, section 3.2.2: a server must accept the absolute form, which clients send to proxies.
const ORIGIN = /^https?:\/\/[^/?]*/i

function parseRequest(request: IncomingMessage): PendingRequest {
  const target = request.url ?? ''
  const url = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const [path = '', ...query] = url.split('?')
  return {
    request,
    path,
    query: new URLSearchParams(query.join('?')),
    content: request.iterator({ destroyOnReturn: false }),
  }
}

function answerUnrouted({ drive }: HandlerContext, path: string, endpoint: Endpoint | undefined): Answer {
  const timestamp = toRfc3339(drive.clock.now())
  return endpoint
    ? unroutedAnswer(405, path, timestamp, endpoint.method)
    : unroutedAnswer(404, path, timestamp)
}

async function outcomeOf(
  context: HandlerContext,
  pending: PendingRequest,
  endpoint: Endpoint,
  scripted: ScriptedScenario<EndpointName, ScenarioName> | undefined,
): Promise<Outcome> {
  try {
    if (!scripted) return await regularAnswer(context, pending, endpoint)
    return await runScenario(context, pending, endpoint, scripted)
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    if (context.abortSignal.aborted || !pending.request.complete) return 'reset'
    return apiError(500, 'InternalError', 'The mock drive has a defect.')
  }
}

function runScenario(
  context: HandlerContext,
  pending: PendingRequest,
  endpoint: Endpoint,
  { scenario, option }: ScriptedScenario<EndpointName, ScenarioName>,
): Promise<Outcome> {
  const { tokens, urls } = context.drive
  const { run }: Scenario = SCENARIOS[scenario]
  return run(
    {
      endpoint: endpoint.name,
      answer: () => regularAnswer(context, pending, endpoint),
      discard: (bytes = Number.POSITIVE_INFINITY) => discard(pending.content, bytes),
      expireToken: () =>
        tokens.expire((pending.request.headers.authorization ?? '').replace(/^bearer /i, '')),
      revokeTokens: () => tokens.revokeAll(),
      expireUrl: () => urls.expire(pending.query),
      signal: context.abortSignal,
    },
    option,
  )
}

async function discard(content: AsyncIterable<Uint8Array>, bytes: number): Promise<void> {
  let left = bytes
  if (left > 0)
    for await (const chunk of content) {
      left -= chunk.length
      if (left <= 0) return
    }
}

async function regularAnswer(
  { drive, baseUrl }: HandlerContext,
  { request, path, query, content }: PendingRequest,
  endpoint: Endpoint,
): Promise<Answer> {
  const { headers } = request
  try {
    const accessToken = endpoint.needsToken ? requireAccessToken(drive, headers.authorization) : ''
    const fields = await readFields(endpoint, request, content)
    const base = baseOfHost(headers.host) ?? baseUrl
    return await endpoint.answer(drive, { path, query, headers, accessToken, fields, content, baseUrl: base })
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  } finally {
    if (endpoint.changes) drive.save()
  }
}

const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?$/

/** The base that a client has used, so that its URLs pass the same proxy; undefined for another host. */
function baseOfHost(host: string | undefined): string | undefined {
  return host !== undefined && LOOPBACK_HOST.test(host) ? `http://${host}` : undefined
}

const NO_FIELDS = new Fields({})

/** Returns the response that was sent. */
async function send(
  context: HandlerContext,
  request: IncomingMessage,
  response: ServerResponse,
  outcome: Outcome,
): Promise<Outcome> {
  if (outcome === 'reset') return outcome
  if (context.isClosing()) response.shouldKeepAlive = false
  const { status, headers, body } = outcome
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  response.writeHead(status, { ...headers, 'Content-Length': length })
  if (typeof body === 'string' || request.method === 'HEAD') response.end(body)
  else await stream(body, response)
  return outcome
}

async function stream({ chunks }: ByteStream, response: ServerResponse): Promise<void> {
  for await (const chunk of chunks()) {
    if (response.destroyed) return
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  response.end()
}

// docs/specification.md, Mock drive: a list of 10,000 parts is a quarter of this.
const BODY_LIMIT_BYTES = 1_024 ** 2

/** The members of a JSON body, or of a form if the endpoint takes one. Throws a {@link Refusal}. */
async function readFields(
  { body }: Endpoint,
  request: IncomingMessage,
  content: AsyncIterable<Uint8Array>,
): Promise<Fields> {
  if (body === 'none' || body === 'raw') return NO_FIELDS
  const type = mediaType(request.headers['content-type'])
  const isForm = body === 'form_or_json' && type === FORM_TYPE
  if (type !== JSON_TYPE && !isForm)
    throw new Refusal(apiError(415, 'UnsupportedMediaType', `The body must be ${JSON_TYPE}.`))
  const text = await readText(content)
  const value: unknown = isForm ? Object.fromEntries(new URLSearchParams(text)) : jsonValueOf(text)
  if (isRecord(value)) return new Fields(value)
  throw new Refusal(
    apiError(400, 'InvalidParameter.Body', 'The body must be a JSON object; {} is the empty one.'),
  )
}

async function readText(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BODY_LIMIT_BYTES)
      throw new Refusal(apiError(413, 'RequestBodyTooLarge', `The limit is ${BODY_LIMIT_BYTES} bytes.`))
  }
  return Buffer.concat(chunks).toString('utf8')
}
