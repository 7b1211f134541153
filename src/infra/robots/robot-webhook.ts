import { traceHeaders } from '../../kernel/trace.ts'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { type Secret, REDACTED } from '../../kernel/secret.ts'
import type { NotificationChannel, SendOutcome } from '../../ports/notification-channel.ts'
import {
  type RobotAdapter,
  type RobotReply,
  type RobotRequest,
  isPage,
  quote,
  type RobotKind,
  type RobotMessage,
} from './adapter.ts'
import { ROBOT_ADAPTERS } from './adapters.ts'

const SEND_TIMEOUT_MS = 10_000

/** An answer that does not come from the robot says nothing about the message. */
const PAGE = { retryable: true, fault: 'receiver' } as const

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
  readonly #url: string
  readonly #secret: string | undefined
  readonly #chatId: string | undefined
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor({
    kind,
    url,
    secret,
    chatId,
    clock = systemClock,
    timeoutMs = SEND_TIMEOUT_MS,
  }: WebhookOptions) {
    this.adapter = typeof kind === 'string' ? ROBOT_ADAPTERS[kind] : kind
    this.#url = parseWebhookUrl(url.reveal())
    this.#secret = secret?.reveal()
    this.#chatId = chatId
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  get rate() {
    return this.adapter.rate
  }

  fits(message: RobotMessage): boolean {
    return this.adapter.size(message) <= this.adapter.maximumSize
  }

  async send(message: RobotMessage, signal?: AbortSignal): Promise<SendOutcome> {
    const target = { url: this.#url, secret: this.#secret, chatId: this.#chatId, now: this.#clock.now() }
    const request = this.adapter.request(message, target)
    const result = await post(request, { timeoutMs: this.#timeoutMs, signal })
    if ('failure' in result) {
      const { failure: reason, isUncertain } = result
      return { sent: false, reason, retryable: true, fault: 'receiver', isUncertain }
    }
    const { reply } = result
    const verdict = this.adapter.verdict(reply, this.#clock.now())
    return verdict.sent
      ? { sent: true, answer: this.#redact(`HTTP ${reply.status} ${quote(reply.body)}`.trim()) }
      : { ...verdict, ...(isPage(reply) && PAGE), reason: this.#redact(verdict.reason) }
  }

  #redact(text: string): string {
    return redact(text, this.#url, this.#secret)
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
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  const stop = () => control.abort('interrupted')
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const response = await fetch(request.url, {
      method: 'POST',
      headers: { ...request.headers, ...traceHeaders() },
      body: request.body,
      redirect: 'manual',
      signal: control.signal,
    })
    return {
      reply: { status: response.status, headers: response.headers, body: await limitedText(response) },
    }
  } catch (error) {
    return control.signal.aborted
      ? { failure: String(control.signal.reason), isUncertain: true }
      : networkFailure(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
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
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code'
  return { failure: `not reached (${code})`, isUncertain: !NEVER_CONNECTED.includes(code) }
}
