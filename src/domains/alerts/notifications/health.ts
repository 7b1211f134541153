import { backoffMs, type Backoff } from '../../../kernel/waiting.ts'
import { isDueAt } from '../../../kernel/time.ts'
import type { SendFault } from '../../../ports/notification-channel.ts'

/** What is known of a receiver that has failed or refused a message; it does not exist while the receiver accepts messages. */
export interface ReceiverHealth {
  /** Rounds of attempts without success. */
  readonly failures: number
  /** When the next round begins. */
  readonly dueAt: number
  /** The first message of the last round. */
  readonly lastFailed: string
  /** Whether another message may be tried before `dueAt`, because the failure may be that of the one message. */
  readonly mayTryOther: boolean
  /** Whether different messages have failed since the last success, so that no single one is to blame. */
  readonly isDown: boolean
  /** The message that was refused since the last success; none in a row of an older program. */
  readonly refused?: string | undefined
}

/** Which messages may be tried: all, those other than the one that failed last, or none. */
export type AllowedMessages = 'any' | 'other' | 'none'

export function allowedBy(
  health: ReceiverHealth | null,
  now: number,
  { maximumMs }: Backoff,
): AllowedMessages {
  if (!health || isDueAt(health.dueAt, now, maximumMs)) return 'any'
  return health.mayTryOther ? 'other' : 'none'
}

const WORKS = { failures: 0, dueAt: 0, lastFailed: '', mayTryOther: false, isDown: false }

/**
 * The health after a failed attempt, and whose fault that was. A receiver that refuses one message works. One that has refused
 * another since its last success refuses more than a message: it fails, and no message is to blame.
 */
export function afterAttempt(
  health: ReceiverHealth | null,
  { messageId, fault }: { readonly messageId: string; readonly fault: SendFault },
  when: { readonly now: number; readonly pauses: Backoff },
): { readonly health: ReceiverHealth; readonly fault: SendFault } {
  if (fault === 'receiver') return { fault, health: afterFailure(health, messageId, when) }
  const isAlone = health?.isDown !== true && (health?.refused ?? messageId) === messageId
  if (isAlone) return { fault, health: { ...WORKS, refused: messageId } }
  return { fault: 'receiver', health: { ...afterFailure(health, messageId, when), isDown: true } }
}

/**
 * The health after a failure of the receiver. A round is one attempt at the most important message and, if that fails,
 * one at another: a message that makes the receiver fail delays no other by more than a round.
 */
function afterFailure(
  health: ReceiverHealth | null,
  messageId: string,
  { now, pauses }: { readonly now: number; readonly pauses: Backoff },
): ReceiverHealth {
  const isSecond = health !== null && health.mayTryOther && health.lastFailed !== messageId
  if (isSecond) return { ...health, mayTryOther: false, isDown: true }
  const failures = (health?.failures ?? 0) + 1
  const dueAt = now + Math.ceil(backoffMs(pauses, failures - 1))
  const isDown = health?.isDown ?? false
  return { failures, dueAt, lastFailed: messageId, mayTryOther: true, isDown, refused: health?.refused }
}

/** The health after a message has been set aside: it is no reason any more to blame the receiver for the next one. */
export function withoutRefused(health: ReceiverHealth | null, messageId: string): ReceiverHealth | null {
  return health?.refused === messageId ? { ...health, refused: undefined } : health
}
