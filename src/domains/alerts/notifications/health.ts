import { backoffMs, type Backoff } from '../../../kernel/retry.ts'
import { isDueAt } from '../../../kernel/time.ts'

/** What is known of a receiver that has failed; it does not exist while the receiver accepts messages. */
export interface Health {
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
}

/** Which messages may be tried: all, those other than the one that failed last, or none. */
export type Allowed = 'any' | 'other' | 'none'

export function allowedBy(health: Health | undefined, now: number, { maximumMs }: Backoff): Allowed {
  if (!health || isDueAt(health.dueAt, now, maximumMs)) return 'any'
  return health.mayTryOther ? 'other' : 'none'
}

/**
 * The health after a failure of the receiver. A round is one attempt at the most important message and, if that fails,
 * one at another: a message that makes the receiver fail delays no other by more than a round.
 */
export function afterFailure(
  health: Health | undefined,
  messageId: string,
  { now, pauses }: { readonly now: number; readonly pauses: Backoff },
): Health {
  const isSecond = health !== undefined && health.mayTryOther && health.lastFailed !== messageId
  if (isSecond) return { ...health, mayTryOther: false, isDown: true }
  const failures = (health?.failures ?? 0) + 1
  const dueAt = now + Math.ceil(backoffMs(pauses, failures - 1))
  return { failures, dueAt, lastFailed: messageId, mayTryOther: true, isDown: health?.isDown ?? false }
}
