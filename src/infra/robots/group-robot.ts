import { setTimeout as sleepFor } from 'node:timers/promises'
import { systemClock } from '../../kernel/clock.ts'
import { type BucketState, TokenBucket } from '../../kernel/waiting.ts'
import type { SendOutcome } from '../../ports/notification-channel.ts'
import type { RobotAdapter, Robot, RobotKind, RobotMessage, RobotOutcome } from './adapter.ts'
import { ROBOT_ADAPTERS } from './adapters.ts'
import { RobotWebhook, type WebhookOptions } from './robot-webhook.ts'

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

const MAX_TITLE_CHARACTERS = 100
// At one message in six seconds ten parts take a minute.
const MAX_PARTS = 10
const WIDEST_MARK = ` (${MAX_PARTS}/${MAX_PARTS})`

type Sized = Pick<RobotAdapter, 'size' | 'maximumSize'>

/** The message in one part, or in several numbered ones that are cut at line ends where possible. */
function splitMessage(message: RobotMessage, adapter: Sized): RobotMessage[] {
  const whole = { ...message, title: clip(message.title) }
  if (adapter.size(whole) <= adapter.maximumSize) return [whole]
  const fits = (text: string) =>
    adapter.size({ ...whole, title: whole.title + WIDEST_MARK, text }) <= adapter.maximumSize
  const texts = cut(whole.text, fits, adapter.maximumSize)
  return texts.map((text, index) => ({
    ...whole,
    title: `${whole.title} (${index + 1}/${texts.length})`,
    text,
  }))
}

function clip(title: string): string {
  const characters = [...title]
  return characters.length > MAX_TITLE_CHARACTERS
    ? `${characters.slice(0, MAX_TITLE_CHARACTERS - 1).join('')}…`
    : title
}

function cut(text: string, fits: (text: string) => boolean, maximumSize: number): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest !== '' && pieces.length < MAX_PARTS - 1) {
    const length = pieceLength(rest, fits, maximumSize)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return rest === '' ? pieces : [...pieces, lastPiece(rest, fits, maximumSize)]
}

function lastPiece(rest: string, fits: (text: string) => boolean, maximumSize: number): string {
  if (fits(rest)) return rest
  const withNote = (piece: string) => `${piece}\n… (${rest.length - piece.length} more characters)`
  const length = longestPrefix(rest, (piece) => fits(withNote(piece)), maximumSize)
  return withNote(rest.slice(0, length))
}

function pieceLength(rest: string, fits: (text: string) => boolean, maximumSize: number): number {
  if (fits(rest)) return rest.length
  const length = longestPrefix(rest, fits, maximumSize)
  const lineEnd = rest.lastIndexOf('\n', length - 1) + 1
  return lineEnd > length / 2 ? lineEnd : length
}

/** The length of the longest prefix that fits: at least one character, and whole ones only. */
function longestPrefix(text: string, fits: (text: string) => boolean, maximumSize: number): number {
  let fitting = 0
  // In every unit a character has at least size 1.
  let tooLong = Math.min(text.length, maximumSize) + 1
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2)
    if (fits(text.slice(0, middle))) fitting = middle
    else tooLong = middle
  }
  return Math.max(1, wholeCharacters(text, fitting))
}

function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1)
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff
  return isFirstHalf ? length - 1 : length
}
