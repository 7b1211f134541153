import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { RobotKind } from '../../src/infra/robots/adapter.ts'

/** Doubles of the group robots with the documented rules: signature, rate, size, format. */
export interface RobotDoubles extends AsyncDisposable {
  /** A webhook address; its token must not appear in any output. */
  url(kind: RobotKind): string
  readonly secrets: Readonly<Record<RobotKind, string>>
  /** All requests, including refused ones. */
  readonly requests: readonly Arrival[]
  /** The requests whose message the robots posted. */
  readonly posted: readonly Arrival[]
  /** The texts that the robots posted to their groups. */
  readonly shown: readonly string[]
  /** Overrides the behaviour of all robots; undefined restores their rules. */
  behave(behaviour: Behaviour | undefined): void
  /** The same by the request. */
  behaveOn(choose: ((arrival: Arrival) => Behaviour | undefined) | undefined): void
}

export interface Arrival {
  readonly kind: RobotKind
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Behaviour = (response: ServerResponse) => void

export interface RobotRules {
  readonly now?: () => number
  /** Whether messages must be signed. */
  readonly signed?: boolean
  /** Called when a message was posted, before its sender is answered. */
  readonly onPosted?: () => Promise<void> | undefined
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Call extends Arrival {
  readonly parameters: URLSearchParams
  readonly now: number
  readonly secret: string | undefined
  /** Times of earlier accepted calls. */
  readonly earlier: readonly number[]
}

interface Double {
  readonly path: string
  /** The refusal of a call that breaks a rule, else the posted text. */
  judge(call: Call): Reply | { readonly shows: string }
  readonly success: Reply
}

export const ROBOT_TOKEN = 'canary-token-0123456789'
const HOUR = 3_600_000

const json = (status: number, value: object): Reply => ({ status, body: JSON.stringify(value) })
const within = (call: Call, milliseconds: number) =>
  call.earlier.filter((at) => at > call.now - milliseconds).length

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const stringIn = (value: unknown, ...path: string[]): string | undefined => {
  const found = path.reduce<unknown>((at, name) => (Object(at) as Record<string, unknown>)[name], value)
  return typeof found === 'string' ? found : undefined
}

const feishuCode = (code: number, msg: string) => json(200, { code, data: {}, msg })

function feishuText(body: Readonly<Record<string, unknown>>): string | undefined {
  const post = Object(Object(Object(body['content'])['post'])['zh_cn']) as {
    title?: string
    content?: unknown
  }
  if (body['msg_type'] !== 'post' || !Array.isArray(post.content)) return undefined
  const lines = post.content as { tag: string; text: string }[][]
  return [post.title, ...lines.map((line) => line.map((each) => each.text).join(''))].join('\n')
}

const feishu: Double = {
  path: `/open-apis/bot/v2/hook/${ROBOT_TOKEN}`,
  success: json(200, { StatusCode: 0, StatusMessage: 'success', code: 0, data: {}, msg: 'success' }),
  judge(call) {
    const body = parse(call.body)
    if (!body) return feishuCode(9499, 'Bad Request')
    if (Buffer.byteLength(call.body) > 20_000) return feishuCode(19036, 'body too large')
    if (call.secret !== undefined) {
      const timestamp = stringIn(body, 'timestamp') ?? ''
      const sign = createHmac('sha256', `${timestamp}\n${call.secret}`).digest('base64')
      const inTime = Math.abs(call.now - Number(timestamp) * 1_000) <= HOUR
      if (timestamp === '' || !inTime || body['sign'] !== sign) {
        return feishuCode(19021, 'sign match fail or timestamp is not within one hour from current time')
      }
    }
    if (within(call, 1_000) >= 5 || within(call, 60_000) >= 100) return feishuCode(11232, 'frequency limited')
    const shows = feishuText(body)
    return shows === undefined ? feishuCode(19002, 'param invalid') : { shows }
  },
}

const errcode = (code: number, errmsg: string) => json(200, { errcode: code, errmsg })

const dingtalk: Double = {
  path: `/robot/send?access_token=${ROBOT_TOKEN}`,
  success: errcode(0, 'ok'),
  judge(call) {
    if (!call.headers['content-type']?.startsWith('application/json'))
      return errcode(43004, 'wrong content type')
    if (call.parameters.get('access_token') !== ROBOT_TOKEN) return errcode(300001, 'token is not exist')
    if (call.secret !== undefined) {
      const timestamp = call.parameters.get('timestamp') ?? ''
      const sign = createHmac('sha256', call.secret).update(`${timestamp}\n${call.secret}`).digest('base64')
      if (Math.abs(call.now - Number(timestamp)) > HOUR) return errcode(310000, 'invalid timestamp')
      if (call.parameters.get('sign') !== sign) return errcode(310000, 'sign not match')
    }
    if (within(call, 60_000) >= 20) return errcode(130101, 'send too fast, exceed 20 times per minute')
    if (Buffer.byteLength(call.body) > 20_000) return errcode(460101, 'message too long')
    const shows = stringIn(parse(call.body), 'text', 'content')
    return shows === undefined ? errcode(40035, 'missing parameter') : { shows }
  },
}

const wecom: Double = {
  path: `/cgi-bin/webhook/send?key=${ROBOT_TOKEN}`,
  success: errcode(0, 'ok'),
  judge(call) {
    if (call.parameters.get('key') !== ROBOT_TOKEN) return errcode(93000, 'invalid webhook url')
    if (within(call, 60_000) >= 20) return errcode(45009, 'api freq out of limit')
    const shows = stringIn(parse(call.body), 'text', 'content')
    if (!shows) return errcode(44004, 'empty content')
    return Buffer.byteLength(shows) > 2_048 ? errcode(40058, 'content exceeds maximum length') : { shows }
  },
}

const slack: Double = {
  path: `/services/T0/B0/${ROBOT_TOKEN}`,
  success: { status: 200, body: 'ok' },
  judge(call) {
    if (within(call, 1_000) >= 1) {
      return { status: 429, body: 'rate_limited', headers: { 'retry-after': '1' } }
    }
    const body = parse(call.body)
    if (!body) return { status: 400, body: 'invalid_payload' }
    const shows = stringIn(body, 'text')
    if (!shows) return { status: 400, body: 'no_text' }
    return shows.length > 40_000 ? { status: 400, body: 'msg_too_long' } : { shows }
  },
}

const generic: Double = {
  path: `/hooks/${ROBOT_TOKEN}`,
  success: { status: 204, body: '' },
  judge(call) {
    if (call.secret !== undefined) {
      const timestamp = String(call.headers['x-platform-timestamp'])
      const sign = createHmac('sha256', call.secret).update(`${timestamp}.${call.body}`).digest('hex')
      const inTime = Math.abs(call.now - Number(timestamp) * 1_000) <= 300_000
      if (!inTime || call.headers['x-platform-signature'] !== `sha256=${sign}`)
        return { status: 401, body: '' }
    }
    if (within(call, 60_000) >= 60) return { status: 429, body: 'more than 60 in a minute' }
    const { title, text: message } = parse(call.body) ?? {}
    return { shows: `${String(title)}\n${String(message)}` }
  },
}

const teams: Double = {
  path: `/workflows/${ROBOT_TOKEN}/triggers/manual/paths/invoke?sig=${ROBOT_TOKEN}`,
  success: { status: 202, body: '' },
  judge(call) {
    if (call.parameters.get('sig') !== ROBOT_TOKEN)
      return json(401, { error: { code: 'DirectApiAuthorizationRequired' } })
    if (within(call, 1_000) >= 4)
      return { status: 429, body: 'too many requests', headers: { 'retry-after': '1' } }
    if (Buffer.byteLength(call.body) > 28_000) return json(413, { error: { code: 'RequestEntityTooLarge' } })
    const [attachment] = (parse(call.body)?.['attachments'] ?? []) as { content?: { body?: unknown } }[]
    const lines = attachment?.content?.body as { inlines: { text: string }[] }[] | undefined
    if (!lines) return json(400, { error: { code: 'TriggerInputSchemaMismatch' } })
    return { shows: lines.map(({ inlines }) => inlines.map((run) => run.text).join('')).join('\n') }
  },
}

const telegramError = (code: number, description: string, parameters = {}) =>
  json(code, { ok: false, error_code: code, description, parameters })

export const TELEGRAM_CHAT = '-1001234567890'

const telegram: Double = {
  path: `/bot${ROBOT_TOKEN}/sendMessage`,
  success: json(200, { ok: true, result: { message_id: 1 } }),
  judge(call) {
    if (within(call, 60_000) >= 20)
      return telegramError(429, 'Too Many Requests: retry after 5', { retry_after: 5 })
    const body = parse(call.body)
    if (body?.['chat_id'] !== TELEGRAM_CHAT) return telegramError(400, 'Bad Request: chat not found')
    const shows = stringIn(body, 'text')
    if (!shows) return telegramError(400, 'Bad Request: message text is empty')
    return shows.length > 4_096 ? telegramError(400, 'Bad Request: message is too long') : { shows }
  },
}

const DOUBLES: Readonly<Record<RobotKind, Double>> = {
  feishu,
  dingtalk,
  wecom,
  slack,
  teams,
  telegram,
  generic,
}

const SECRETS: Readonly<Record<RobotKind, string>> = {
  feishu: 'feishu-canary-secret',
  dingtalk: 'SECdingtalk-canary-secret',
  wecom: 'wecom-canary-secret',
  slack: 'slack-canary-secret',
  teams: 'teams-canary-secret',
  telegram: 'telegram-canary-secret',
  generic: 'generic-canary-secret',
}

export async function startRobots({
  now = Date.now,
  signed = false,
  onPosted,
}: RobotRules = {}): Promise<RobotDoubles> {
  const requests: Arrival[] = []
  const shown: string[] = []
  const posted: Arrival[] = []
  const passed = new Map<RobotKind, number[]>()
  let behaviourOn: ((arrival: Arrival) => Behaviour | undefined) | undefined

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? ''
    const [kind, double] = entryFor(url)
    const arrival = { kind, url, headers: request.headers, body: await text(request) }
    requests.push(arrival)
    const behaviour = behaviourOn?.(arrival)
    if (behaviour) return behaviour(response)
    const earlier = passed.get(kind) ?? []
    const parameters = new URL(url, 'http://robot').searchParams
    const call = { ...arrival, parameters, now: now(), secret: signed ? SECRETS[kind] : undefined, earlier }
    const judged = request.method === 'POST' ? double.judge(call) : { status: 405, body: '' }
    if ('shows' in judged) {
      passed.set(kind, [...earlier, call.now])
      shown.push(judged.shows)
      posted.push(arrival)
      await onPosted?.()
    }
    const { status, body, headers } = 'shows' in judged ? double.success : judged
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (kind) => `http://127.0.0.1:${port}${DOUBLES[kind].path}`,
    secrets: SECRETS,
    requests,
    posted,
    shown,
    behaveOn(next) {
      behaviourOn = next
    },
    behave(next) {
      behaviourOn = next && (() => next)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function entryFor(url: string): [RobotKind, Double] {
  const path = url.split('?')[0]
  const found = Object.entries(DOUBLES).find(([, double]) => double.path.split('?')[0] === path)
  if (!found) throw new Error(`no robot has the address ${url}`)
  return [found[0] as RobotKind, found[1]]
}

/** What goes wrong with robots, apart from their own rules. */
export const ROBOT_FAULTS: Readonly<Record<string, Behaviour>> = {
  'accepts and says nothing': () => {},
  'resets the connection': (response) => void response.socket?.resetAndDestroy(),
  'breaks off in the middle': (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"code":0')
    setImmediate(() => response.destroy())
  },
  'sends a byte now and then': (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  },
  'answers without end': (response) => {
    const chunk = 'x'.repeat(65_536)
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', pour)
    }
    pour()
  },
  'answers with a page': (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>busy</html>'),
  'answers with nothing': (response) => void response.writeHead(200).end(),
  'redirects elsewhere': (response) =>
    // To this server, which would record a request.
    void response.writeHead(302, { location: response.req.url ?? '' }).end(),
  'answers 500': (response) => void response.writeHead(500).end('oops'),
  'asks for a day': (response) => void response.writeHead(429, { 'retry-after': '86400' }).end('slow down'),
  'echoes its address': (response) =>
    void response.writeHead(403).end(`no access for ${ROBOT_TOKEN} at ${response.req.url}`),
}
