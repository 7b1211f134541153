import { setTimeout as sleepFor } from 'node:timers/promises'
import { systemClock } from '../../kernel/clock.ts'
import { type BucketState, TokenBucket } from '../../kernel/token-bucket.ts'
import type { SendOutcome } from '../../ports/notification-channel.ts'
import { ROBOT_ADAPTERS } from './adapters.ts'
import { RobotWebhook, type WebhookOptions } from './robot-webhook.ts'
import type { Robot, RobotKind, RobotMessage, RobotOutcome } from './robot.ts'
import { splitMessage } from './split.ts'

// Longer than the longest regular wait for a token; a message that had to wait longer fails and is sent later.
const MAX_WAIT_MS = 15_000
const MAX_ATTEMPTS = 2

export interface RobotOptions extends WebhookOptions {
  /** The rate limit's state at the end of an earlier process. */
  readonly bucketState?: BucketState | undefined
  /** Called with each change of the rate limit, before a message is sent. */
  readonly onBucketState?: (state: BucketState) => void
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

export function isRobotKind(name: string): name is RobotKind {
  return Object.hasOwn(ROBOT_ADAPTERS, name)
}

/** The webhook of a robot in a group chat. An invalid URL is refused with an AppError that does not repeat it. */
export class GroupRobot implements Robot {
  readonly #webhook: RobotWebhook
  readonly #bucket: TokenBucket
  readonly #options: RobotOptions

  constructor(options: RobotOptions) {
    this.#options = options
    this.#webhook = new RobotWebhook(options)
    const { now } = options.clock ?? systemClock
    this.#bucket = new TokenBucket(this.#webhook.rate, now, options.bucketState)
  }

  async send(message: RobotMessage, signal?: AbortSignal): Promise<RobotOutcome> {
    const parts = splitMessage(message, this.#webhook.adapter)
    for (const [index, part] of parts.entries()) {
      const verdict = await this.#sendPart(part, signal)
      if (verdict.sent) continue
      const where = parts.length > 1 ? `part ${index + 1} of ${parts.length}: ` : ''
      return { outcome: 'failed', reason: `${where}${verdict.reason}`, retryable: verdict.retryable }
    }
    return { outcome: 'sent' }
  }

  /** Tries again once when the robot asks for a pause that is short enough. */
  async #sendPart(message: RobotMessage, signal: AbortSignal | undefined): Promise<SendOutcome> {
    let verdict: SendOutcome | undefined
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const problem = await this.#waitForToken(signal)
      if (problem !== undefined) return verdict ?? failure(problem)
      verdict = await this.#webhook.send(message, signal)
      if (verdict.sent || verdict.pauseMs === undefined) return verdict
      this.#bucket.pause(verdict.pauseMs)
      this.#options.onBucketState?.(this.#bucket.state)
    }
    return verdict ?? failure('not tried')
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
}

function failure(reason: string): SendOutcome {
  return { sent: false, reason, retryable: true, fault: 'receiver' }
}

async function sleepUnlessAborted(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleepFor(milliseconds, undefined, signal && { signal })
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
