import { systemClock, type Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { NotificationChannel, SendOutcome } from '../../ports/notification-channel.ts'
import type { RobotAdapter } from './adapter.ts'
import { ROBOT_ADAPTERS } from './adapters.ts'
import { post } from './post.ts'
import { redact } from './redact.ts'
import { isPage, quote } from './replies.ts'
import type { RobotKind, RobotMessage } from './robot.ts'

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
