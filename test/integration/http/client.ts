import assert from 'node:assert/strict'
import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { answerCheck, placesOf, type CheckAnswer, type OpenApiDocument, type Place } from './document.ts'
import type { Answer, ErrorAnswer, Sent } from './traffic.ts'

export interface Api extends AsyncDisposable {
  readonly platform: ServedPlatform
  readonly dataDir: string
  readonly document: OpenApiDocument
  /** The operations of the document. */
  readonly places: readonly Place[]
  /** Sends a request; fails when its answer is not as the document declares, or is a failure of the platform. */
  send(sent: Sent): Promise<Answer>
}

export const ADMIN = { 'x-user-id': 'tester', 'x-user-roles': 'admin' }

/** A platform of its own, on free ports and an empty database, without a bus; `wrapper` runs it. */
export async function openApi(
  env: Readonly<Record<string, string>> = {},
  wrapper: readonly string[] = [],
): Promise<Api> {
  await using opening = new AsyncDisposableStack()
  const directory = opening.use(temporaryDirectory())
  // The suites call more in a minute than one caller may.
  const platform = opening.use(
    await servePlatform({ dataDir: directory.path, env: { API_RATE_LIMIT: '0', ...env }, wrapper }),
  )
  const client = opening.use(openClient(platform.url))
  const document = (
    await client.send({ method: 'GET', path: '/openapi.json', headers: {} })
  ).json() as OpenApiDocument
  const check = answerCheck(document)
  const opened = opening.move()
  return {
    platform,
    dataDir: directory.path,
    document,
    places: placesOf(document),
    send: (sent) => sendChecked(client, check, sent),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function sendChecked(client: Client, check: CheckAnswer, sent: Sent): Promise<Answer> {
  const answer = await client.send(sent)
  assert.ok(answer.status < 500, `${sent.method} ${sent.path} → ${answer.status} ${answer.text}`)
  if (sent.method !== 'HEAD' && sent.path !== '/openapi.json') check(sent, answer)
  assertHelp(answer)
  return answer
}

/** Every error body leads to the meaning of its code. */
function assertHelp({ status, headers, text }: Answer): void {
  const code = status >= 400 ? /^\{"code":"(\w+)"/.exec(text)?.[1] : undefined
  if (code !== undefined) assert.equal(headers['link'], `</docs/errors#${code}>; rel="help"`)
}

export interface Client extends Disposable {
  send(sent: Sent): Promise<Answer>
}

/** A client that keeps its connections. */
export function openClient(url: string): Client {
  const agent = new Agent({ keepAlive: true })
  return {
    send: (sent) => send(url, agent, sent),
    [Symbol.dispose]: () => agent.destroy(),
  }
}

function send(url: string, agent: Agent, sent: Sent): Promise<Answer> {
  const { method, path, headers = ADMIN, chunked = false } = sent
  const { hostname, port } = addressOf(url)
  const [body, type] = encoded(sent.body)
  const length = body === undefined || chunked ? {} : { 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const outgoing = request({
      agent,
      hostname,
      port,
      method,
      path,
      headers: { ...type, ...length, ...headers },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let text = ''
      const answered = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => JSON.parse(text),
        })
      // A stream has no end: its beginning is the answer.
      const isStream = response.headers['content-type']?.startsWith('text/event-stream')
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (!isStream) return
        answered()
        outgoing.destroy()
      })
      response.on('error', reject)
      response.on('end', answered)
    })
    for (const piece of pieces(body, chunked)) outgoing.write(piece)
    outgoing.end()
  })
}

/** Where to connect to; a URL writes an IPv6 address in brackets. */
export function addressOf(url: string): { readonly hostname: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function encoded(body: unknown): [Buffer | undefined, OutgoingHttpHeaders] {
  if (body === undefined) return [undefined, {}]
  if (typeof body === 'string' || Buffer.isBuffer(body)) return [Buffer.from(body), {}]
  return [Buffer.from(JSON.stringify(body)), { 'content-type': 'application/json' }]
}

const PIECE = 16_384

function* pieces(body: Buffer | undefined, chunked: boolean): Iterable<Buffer> {
  if (!body) return
  if (!chunked) return yield body
  for (let at = 0; at < body.length; at += PIECE) yield body.subarray(at, at + PIECE)
}

/** Asserts a refusal by its status and code, and that `details` name the place when one is given. */
export function assertRefused(answer: Answer, status: number, code: string, path?: string, what = ''): void {
  const error = answer.json() as ErrorAnswer
  const seen = `${what} → ${answer.status} ${answer.text.slice(0, 500)}`
  assert.deepEqual([answer.status, error.code], [status, code], seen)
  if (path === undefined) return
  const paths = (error.details ?? []).map((detail) => detail.path)
  assert.ok(paths.includes(path), `${JSON.stringify(path)} is not named: ${seen}`)
}

/** Asserts that a request was not refused for its form, whatever became of it then. */
export function assertAccepted(answer: Answer, what = ''): void {
  const seen = `${what} → ${answer.status} ${answer.text.slice(0, 500)}`
  assert.ok(![400, 413, 415].includes(answer.status) && answer.status < 500, seen)
}
