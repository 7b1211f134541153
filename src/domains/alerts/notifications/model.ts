import { createHash } from 'node:crypto'
import type { SentenceCause } from '../../../kernel/errors.ts'
import type { AlertOccasion } from '../occasion.ts'
import type { Alert, AlertWeight } from '../model.ts'

/** The outcomes of a notification (docs/specification.md, Alert notifications). */
export const OUTCOMES = [
  'disabled',
  'below_level',
  'inhibited',
  'silenced',
  'acknowledged',
  'frozen',
  'damped',
  'superseded',
  'pending',
  'sent',
  'bundled',
  'failed',
] as const
export type Outcome = (typeof OUTCOMES)[number]

export type OccasionKind = AlertOccasion['kind']

export const NOTIFIED_STATUSES = ['firing', 'recovered', 'frozen', 'damped'] as const
export type NotifiedStatus = (typeof NOTIFIED_STATUSES)[number]

/** The state of an alert as a receiver knows it. */
export interface NotifiedState {
  readonly weight: AlertWeight
  readonly status: NotifiedStatus
  /** See {@link textHashOf}; null if an older program has written it. */
  readonly textHash: string | null
}

/** Identifies the texts of an alert, by which a receiver knows it. */
export function textHashOf({ title, body, source, serverAddr }: Alert): string {
  return createHash('sha256')
    .update(JSON.stringify([title, body, source, serverAddr]))
    .digest('base64url')
}

/** The state of an alert that a notification reports. */
export function notifiedStateOf({
  occasion,
  weight,
  content,
}: Pick<WaitingNotification, 'occasion' | 'weight'> & {
  readonly content: NotificationContent | null
}): NotifiedState {
  const textHash = content?.textHash ?? null
  if (occasion === 'frozen' || occasion === 'damped') return { weight, status: occasion, textHash }
  return { weight, status: weight === 0 ? 'recovered' : 'firing', textHash }
}

/** What the reason of a decision says; those of the robot, and of a failure, have no code. */
export const DECISION_CAUSES = [
  'no_robot',
  'no_receiver',
  'never_pushed',
  'below_level',
  'inhibited',
  'silenced',
  'acknowledged',
  'frozen',
  'damped',
  'outside_hours',
  'superseded',
  'sent',
  'bundled',
] as const
export type DecisionCause = SentenceCause<(typeof DECISION_CAUSES)[number]>

/** A decision of the stages, or of the sender. */
export interface Decision {
  readonly outcome: Outcome
  /** Why the notification was suppressed, or how it was sent; null while it is pending without a failure. */
  readonly reason: string | null
  readonly cause: DecisionCause | null
}

/** A notification that was replaced by a newer one while it waited, or whose alert is again as the receiver knows it. */
export const SUPERSEDED: Decision = {
  outcome: 'superseded',
  reason: 'The alert has changed again before this was sent.',
  cause: { code: 'superseded', values: {} },
}

/** The parts of an alert that a message shows, as they were at the occasion. */
export interface NotificationContent {
  readonly title: string
  readonly alarmId: string | null
  readonly serverAddr: string | null
  /** The beginning of its body. */
  readonly excerpt: string
  /** The note of the freeze rule or of damping, or null. */
  readonly note: string | null
  /** See {@link textHashOf}; undefined if an older program wrote it. */
  readonly textHash?: string
  /** For the end of an alert: the weight in the last notification of the receiver. */
  readonly toldWeight?: AlertWeight
  /** Left out if the alert has none. */
  readonly runbookUrl?: string
}

/** A pending notification: no message contains it yet, or its message is not sent yet. */
export interface WaitingNotification {
  /** Later notifications have a larger number. */
  readonly seq: number
  readonly id: string
  readonly alertId: string
  readonly at: number
  readonly occasion: OccasionKind
  readonly weight: AlertWeight
  readonly source: string
  readonly content: NotificationContent
  /** The beginning of the hours that it waits for; null if it waits for none. */
  readonly dueAt: number | null
  /** The trace of what has caused it (`storedTrace`). */
  readonly trace: string | null
  /** The alert as the API shows it, as JSON, for a receiver that gets it so. */
  readonly alert?: string
}
