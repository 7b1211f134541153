import { setTimeout as sleepFor } from 'node:timers/promises'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { RobotAdapter, Verdict } from './adapter.ts'
import { dingtalk } from './dingtalk.ts'
import { feishu } from './feishu.ts'
import { generic } from './generic.ts'
import { post } from './post.ts'
import { redact } from './redact.ts'
import type { Robot, RobotKind, RobotMessage, RobotOutcome } from './robot.ts'
import { slack } from './slack.ts'
import { splitMessage } from './split.ts'
import { type BucketState, TokenBucket } from './token-bucket.ts'
import { wecom } from './wecom.ts'

const ADAPTERS: Readonly<Record<RobotKind, RobotAdapter>> = { feishu, dingtalk, wecom, slack, generic }

const SEND_TIMEOUT_MS = 10_000
// Longer than the longest regular wait for a token; a message that had to wait longer fails and is sent later.
const MAX_WAIT_MS = 15_000
const MAX_ATTEMPTS = 2

export interface RobotOptions {
  readonly kind: RobotKind
  readonly url: Secret
  readonly secret?: Secret | undefined
  readonly clock?: Clock
  /** The rate limit's state at the end of an earlier process. */
  readonly bucketState?: BucketState | undefined
  /** Called with each change of the rate limit, before a message is sent. */
  readonly onBucketState?: (state: BucketState) => void
  readonly timeoutMs?: number
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

export function isRobotKind(name: string): name is RobotKind {
  return Object.hasOwn(ADAPTERS, name)
}

/** The webhook of a robot in a group chat. An invalid URL is refused with an AppError that does not repeat it. */
export class GroupRobot implements Robot {
  readonly #adapter: RobotAdapter
  readonly #url: string
  readonly #secret: string | undefined
  readonly #clock: Clock
  readonly #bucket: TokenBucket
  readonly #options: RobotOptions

  constructor(options: RobotOptions) {
    this.#options = options
    this.#adapter = ADAPTERS[options.kind]
    this.#url = parseWebhookUrl(options.url.reveal())
    this.#secret = options.secret?.reveal()
    this.#clock = options.clock ?? systemClock
    this.#bucket = new TokenBucket(this.#adapter.rate, this.#clock.now, options.bucketState)
  }

  async send(message: RobotMessage, signal?: AbortSignal): Promise<RobotOutcome> {
    const parts = splitMessage(message, this.#adapter)
    for (const [index, part] of parts.entries()) {
      const verdict = await this.#sendPart(part, signal)
      if (verdict.sent) continue
      const where = parts.length > 1 ? `part ${index + 1} of ${parts.length}: ` : ''
      const reason = redact(`${where}${verdict.reason}`, this.#url, this.#secret)
      return { outcome: 'failed', reason, retryable: verdict.retryable }
    }
    return { outcome: 'sent' }
  }

  /** Tries again once when the robot asks for a pause that is short enough. */
  async #sendPart(message: RobotMessage, signal: AbortSignal | undefined): Promise<Verdict> {
    let verdict: Verdict | undefined
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const problem = await this.#waitForToken(signal)
      if (problem !== undefined) return verdict ?? failed(problem)
      verdict = await this.#post(message, signal)
      if (verdict.sent || verdict.pauseMs === undefined) return verdict
      this.#bucket.pause(verdict.pauseMs)
      this.#options.onBucketState?.(this.#bucket.state)
    }
    return verdict ?? failed('not tried')
  }

  /** Takes a token, or returns why there is none soon enough. */
  async #waitForToken(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { onBucketState, sleep = sleepUnlessAborted } = this.#options
    for (let waited = 0; ;) {
      const waitMs = this.#bucket.take()
      onBucketState?.(this.#bucket.state)
      if (waitMs === 0) return undefined
      if (waited + waitMs > MAX_WAIT_MS)
        return `its rate limit allows no message for ${Math.ceil(waitMs / 1_000)} s`
      await sleep(waitMs, signal)
      if (signal?.aborted) return 'interrupted'
      waited += waitMs
    }
  }

  async #post(message: RobotMessage, signal: AbortSignal | undefined): Promise<Verdict> {
    const target = { url: this.#url, secret: this.#secret, now: this.#clock.now() }
    const request = this.#adapter.request(message, target)
    const result = await post(request, { timeoutMs: this.#options.timeoutMs ?? SEND_TIMEOUT_MS, signal })
    return 'failure' in result
      ? failed(result.failure)
      : this.#adapter.verdict(result.reply, this.#clock.now())
  }
}

function failed(reason: string): Verdict {
  return { sent: false, reason, retryable: true }
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

async function sleepUnlessAborted(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleepFor(milliseconds, undefined, signal && { signal })
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
