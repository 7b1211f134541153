import { setTimeout as sleepFor } from 'node:timers/promises'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { RobotAdapter, Verdict } from './adapter.ts'
import { dingtalk } from './dingtalk.ts'
import { feishu } from './feishu.ts'
import { generic } from './generic.ts'
import { createPace, type PaceState } from './pace.ts'
import { post } from './post.ts'
import type { Robot, RobotKind, RobotMessage, RobotOutcome } from './robot.ts'
import { scrub } from './scrub.ts'
import { slack } from './slack.ts'
import { splitMessage } from './split.ts'
import { wecom } from './wecom.ts'

const ADAPTERS: Readonly<Record<RobotKind, RobotAdapter>> = { feishu, dingtalk, wecom, slack, generic }

// contract, section 7: each send has a 10 s limit
const SEND_TIMEOUT_MS = 10_000
// Longer than the slowest robot's next turn; what is to wait longer is better told that it failed.
const TURN_PATIENCE_MS = 15_000

export interface RobotOptions {
  readonly kind: RobotKind
  readonly url: Secret
  readonly secret?: Secret | undefined
  readonly clock?: Clock
  /** What an earlier process left of the rate limit. */
  readonly pace?: PaceState | undefined
  /** Told of each turn that is taken and each pause that is asked for, before anything is sent. */
  readonly onPace?: (state: PaceState) => void
  readonly timeoutMs?: number
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

export function isRobotKind(name: string): name is RobotKind {
  return Object.hasOwn(ADAPTERS, name)
}

/** A robot of that kind. An address that is none is refused with an AppError that does not repeat it. */
export function createRobot(options: RobotOptions): Robot {
  const { kind, clock = systemClock, timeoutMs = SEND_TIMEOUT_MS, onPace, sleep = sleepUnless } = options
  const adapter = ADAPTERS[kind]
  const url = webhookUrl(options.url.reveal())
  const secret = options.secret?.reveal()
  const pace = createPace(adapter.rate, clock.now, options.pace)

  /** Waits for a turn as long as that is bearable; answers why it took none. */
  async function takeTurn(signal: AbortSignal | undefined): Promise<string | undefined> {
    for (let waited = 0; ;) {
      const waitMs = pace.take()
      onPace?.(pace.state())
      if (waitMs === 0) return undefined
      if (waited + waitMs > TURN_PATIENCE_MS)
        return `its rate limit leaves no turn for ${Math.ceil(waitMs / 1_000)} s`
      await sleep(waitMs, signal)
      if (signal?.aborted) return 'interrupted'
      waited += waitMs
    }
  }

  async function postPart(message: RobotMessage, signal: AbortSignal | undefined): Promise<Verdict> {
    const request = adapter.request(message, { url, secret, now: clock.now() })
    const result = await post(request, { timeoutMs, signal })
    if ('failure' in result) return { sent: false, reason: result.failure, retryable: true }
    return adapter.verdict(result.reply, clock.now())
  }

  async function sendPart(message: RobotMessage, signal: AbortSignal | undefined): Promise<Verdict> {
    let verdict: Verdict | undefined
    for (let attempt = 0; attempt < 2; attempt++) {
      const noTurn = await takeTurn(signal)
      if (noTurn !== undefined) return verdict ?? { sent: false, reason: noTurn, retryable: true }
      verdict = await postPart(message, signal)
      if (verdict.sent || verdict.pauseMs === undefined) return verdict
      pace.pause(verdict.pauseMs)
      onPace?.(pace.state())
    }
    return verdict ?? { sent: false, reason: 'not tried', retryable: true }
  }

  async function send(message: RobotMessage, signal?: AbortSignal): Promise<RobotOutcome> {
    const parts = splitMessage(message, adapter)
    for (const [index, part] of parts.entries()) {
      const verdict = await sendPart(part, signal)
      if (verdict.sent) continue
      const where = parts.length > 1 ? `part ${index + 1} of ${parts.length}: ` : ''
      const reason = scrub(`${where}${verdict.reason}`, url, secret)
      return { outcome: 'failed', reason, retryable: verdict.retryable }
    }
    return { outcome: 'sent' }
  }

  return { send }
}

function webhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  // fetch refuses an address with a password, in a sentence that holds it.
  if (url && isWeb && url.username === '' && url.password === '') return url.href
  throw new AppError(
    'invalid',
    'validation_failed',
    "The robot's address must be an http or https URL without user and password.",
  )
}

async function sleepUnless(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleepFor(milliseconds, undefined, signal && { signal })
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
