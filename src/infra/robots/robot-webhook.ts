import { traceHeaders } from '../../kernel/trace.ts'
import { AppError, errorCode } from '../../kernel/errors.ts'
import { type Secret, REDACTED } from '../../kernel/secret.ts'
import type { NotificationChannel, SendOutcome, ChannelMessage } from '../../ports/notification-channel.ts'
import {
  type RobotAdapter,
  type RobotReply,
  type RobotTarget,
  type RobotRequest,
  isPage,
  quote,
  type RobotKind,
  type RobotMessage,
  SENT,
  statusVerdict,
} from './adapter.ts'
import { ROBOT_ADAPTERS } from './adapters.ts'
import { EVENT_HEADERS, eventSource, toCloudEvent } from '../../kernel/events.ts'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import { webhookHeaders } from '../../kernel/standard-webhook.ts'
import { SECOND, toRfc3339 } from '../../kernel/time.ts'

const SEND_TIMEOUT_MS = 10_000

/** A page for people does not come from the robot, so it says nothing about the message. */
const PAGE_VERDICT = { retryable: true, fault: 'receiver' } as const

export interface WebhookOptions {
  /** Or the protocol itself. */
  readonly kind: RobotKind | RobotAdapter
  readonly url: Secret
  readonly secret?: Secret | undefined
  readonly chatId?: string | undefined
  readonly clock?: Clock
  readonly timeoutMs?: number
}

/** The webhook of a robot: one request for each message. Refuses an invalid URL without repeating it. */
export class RobotWebhook implements NotificationChannel {
  readonly adapter: RobotAdapter
  readonly #target: Omit<RobotTarget, 'now'>
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor({ kind, url, secret, chatId, clock = systemClock, timeoutMs }: WebhookOptions) {
    this.adapter = typeof kind === 'string' ? ROBOT_ADAPTERS[kind] : kind
    this.#target = { url: parseWebhookUrl(url.reveal()), secret: secret?.reveal(), chatId }
    this.#clock = clock
    this.#timeoutMs = timeoutMs ?? SEND_TIMEOUT_MS
  }

  get rate() {
    return this.adapter.rate
  }

  fits(message: RobotMessage): boolean {
    return this.adapter.size(message) <= this.adapter.maximumSize
  }

  async send(message: RobotMessage, signal?: AbortSignal): Promise<SendOutcome> {
    const request = this.adapter.request(message, { ...this.#target, now: this.#clock.now() })
    const result = await post(request, { timeoutMs: this.#timeoutMs, signal })
    if ('failure' in result) {
      const { failure: reason, isUncertain } = result
      return { sent: false, reason, retryable: true, fault: 'receiver', isUncertain }
    }
    const { reply } = result
    const verdict = this.adapter.verdict(reply, this.#clock.now())
    return verdict.sent
      ? { sent: true, answer: this.#redact(`HTTP ${reply.status} ${quote(reply.body)}`.trim()) }
      : { ...verdict, ...(isPage(reply) && PAGE_VERDICT), reason: this.#redact(verdict.reason) }
  }

  #redact(text: string): string {
    return redact(text, this.#target.url, this.#target.secret)
  }
}

function parseWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  // fetch rejects a URL with a password, and repeats it in the error.
  if (url && isWeb && url.username === '' && url.password === '') return url.href
  throw new AppError(
    'invalid',
    'validation_failed',
    "The robot's address must be an http or https URL without user and password.",
  )
}

// Shorter words of an address (send, hook, v2) are no credentials; replacing them would make a sentence unreadable.
const MIN_CREDENTIAL_LENGTH = 8

/** Replaces the robot's credentials in a text: its address, the words of the address, and its secret. */
export function redact(text: string, url: string, secret: string | undefined): string {
  return credentialsIn(url, secret).reduce((redacted, word) => redacted.replaceAll(word, REDACTED), text)
}

/** In the address of a robot of Telegram `bot` stands before its token. */
const tokenIn = (word: string) => (word.startsWith('bot') ? [word, word.slice('bot'.length)] : [word])

function credentialsIn(url: string, secret: string | undefined): string[] {
  const { pathname, searchParams } = new URL(url)
  const words = [...pathname.split('/').flatMap(tokenIn), ...searchParams.values()]
  const long = words.filter((word) => word.length >= MIN_CREDENTIAL_LENGTH)
  return [url, ...(secret ? [secret] : []), ...long, ...long.map(encodeURIComponent)]
}

// Replies of robots are a fraction of this.
const MAX_REPLY_BYTES = 64 * 1_024

/** The reply, or why there is none; neither contains the address. */
type PostResult =
  | { readonly reply: RobotReply }
  /** `isUncertain`: the request may have arrived. */
  | { readonly failure: string; readonly isUncertain: boolean }

interface PostLimits {
  /** For the connection, the request and the whole reply together. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Sends a request and reads the reply within the time limit. Follows no redirect. */
async function post(request: RobotRequest, { timeoutMs, signal }: PostLimits): Promise<PostResult> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const stop = signal ? AbortSignal.any([signal, timeout]) : timeout
  try {
    const response = await fetch(request.url, {
      method: 'POST',
      headers: { ...request.headers, ...traceHeaders() },
      body: request.body,
      redirect: 'manual',
      signal: stop,
    })
    return {
      reply: { status: response.status, headers: response.headers, body: await limitedText(response) },
    }
  } catch (error) {
    if (!stop.aborted) return networkFailure(error)
    const failure = signal?.aborted ? 'interrupted' : `no answer within ${timeoutMs / SECOND} s`
    return { failure, isUncertain: true }
  }
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: ReadableStream<Uint8Array> | null = response.body
  if (body === null) return ''
  // Leaving the loop cancels the rest of the reply.
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_REPLY_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REPLY_BYTES)
}

/** Failures before anything was sent. */
const NEVER_CONNECTED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** The code of the error: its message would name the host. */
function networkFailure(error: unknown): { failure: string; isUncertain: boolean } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = errorCode(cause) ?? 'no code'
  return { failure: `not reached (${code})`, isUncertain: !NEVER_CONNECTED.includes(code) }
}

export interface WebhookChannelOptions {
  /** The name of the receiver. */
  readonly name: string
  readonly url: Secret
  readonly secret: Secret | undefined
  readonly clock?: Clock
  readonly timeoutMs?: number
}

// Most servers refuse a body of more than 1 MiB.
const MAXIMUM_BYTES = 524_288

/** The alerts as they are, in one CloudEvents envelope that is signed as a Standard Webhook. Any 2xx is success. */
export class WebhookChannel implements NotificationChannel {
  readonly needs = 'alerts'
  readonly #webhook: RobotWebhook

  constructor({ name, clock = systemClock, ...options }: WebhookChannelOptions) {
    this.#webhook = new RobotWebhook({ kind: adapterOf(name), clock, ...options })
  }

  get rate() {
    return this.#webhook.rate
  }

  /** A message has one occasion. */
  fits(message: ChannelMessage): boolean {
    return (message.about?.occasions.length ?? 0) <= 1 && this.#webhook.fits(message)
  }

  send(message: ChannelMessage, signal?: AbortSignal): Promise<SendOutcome> {
    return this.#webhook.send(message, signal)
  }
}

function adapterOf(name: string): RobotAdapter {
  return {
    // As the generic robot.
    rate: { burst: 40, everyMs: 3_000 },
    maximumSize: MAXIMUM_BYTES,
    size: (message) => Buffer.byteLength(bodyOf(name, message, 0)),
    request(message, { url, secret = '', now }) {
      const body = bodyOf(name, message, now)
      const signature = webhookHeaders([secret], now, { id: message.key, body })
      return { url, headers: { ...EVENT_HEADERS, ...signature }, body }
    },
    verdict: (reply, now) => (reply.status >= 200 && reply.status < 300 ? SENT : statusVerdict(reply, now)),
  }
}

/** A notice has no alert; it has its texts. */
function bodyOf(name: string, { key, title, text, links = [], about }: ChannelMessage, now: number): string {
  const { occasions = ['notice'], alerts = [] } = about ?? {}
  const attributes = {
    id: key,
    source: eventSource('alerts'),
    type: 'alert.notification',
    subject: name,
    time: toRfc3339(now),
  }
  const members = {
    receiver: name,
    occasion: occasions[0] ?? 'notice',
    ...(alerts.length === 0 && { title, text, url: links[0]?.url ?? null }),
  }
  return toCloudEvent(attributes, `${JSON.stringify(members).slice(0, -1)},"alerts":[${alerts.join(',')}]}`)
}
