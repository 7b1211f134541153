import { defineColumns, flag, generated, integer, json, text, schemaOf } from '../../../store/columns.ts'
import { WORK_COLUMNS } from '../../../store/work/work-queue.ts'
import type { BucketState } from '../../../kernel/waiting.ts'
import type { AlertWeight } from '../model.ts'
import type { ReceiverHealth } from './health.ts'
import type { ChannelMessage } from '../../../ports/notification-channel.ts'
import type { NotificationContent, DecisionCause, OccasionKind, Outcome, NotifiedStatus } from './model.ts'

export const notifications = defineColumns({
  seq: generated(),
  id: text(),
  alertId: text(),
  at: integer(),
  occasion: text<OccasionKind>(),
  channel: text(),
  outcome: text<Outcome>(),
  reason: text().nullable(),
  cause: json<DecisionCause>().nullable(),
  source: text(),
  weight: integer<AlertWeight>(),
  /** Null when it was never to be sent, and after it was sent. */
  content: json<NotificationContent>().nullable(),
  /** The message that contains it. */
  messageId: text().nullable(),
  /** The earliest time of sending; null if no hours apply. */
  dueAt: integer().nullable(),
  trace: text().nullable(),
})

/** Messages that are being sent, or wait for another attempt. */
export const channelMessages = defineColumns({
  id: text(),
  channel: text(),
  title: text(),
  text: text(),
  level: text(),
  /** Null if it has neither. */
  details: json<Pick<ChannelMessage, 'links' | 'about' | 'recipients'>>().nullable(),
  /** Whether it is not about alerts, and contains no notifications. */
  isNotice: flag(),
  /** An older program reads it; always false. */
  isRefused: flag(),
  /** How often the channel has refused the message itself. */
  refusals: integer(),
  /** Whether the last attempt had no answer, so that the channel may have got the message. */
  isUncertain: flag(),
  ...WORK_COLUMNS,
})

export const channels = defineColumns({
  name: text(),
  /** How much of the rate limit is left. It is kept here because the limit is one for all processes. */
  rate: json<BucketState>().nullable(),
  /** Null while it accepts messages. */
  health: json<ReceiverHealth>().nullable(),
  lastSuccessAt: integer().nullable(),
  /** What was wrong with the last attempt that has failed. */
  lastError: text().nullable(),
  /** Null while it accepts messages. */
  failingSince: integer().nullable(),
  /** Whether an alert says that it fails. */
  isReported: flag(),
})

/** The last notification of each receiver about an alert. */
export const notifiedStates = defineColumns({
  alertId: text(),
  receiver: text(),
  weight: integer<AlertWeight>(),
  status: text<NotifiedStatus>(),
  at: integer(),
  /** `textHash` of the alert as the receiver knows it; null in a row of an older program. */
  textHash: text().nullable(),
})

/** The progress of a route for a firing alert, since its receivers were first notified. */
export const episodes = defineColumns({
  alertId: text(),
  route: text(),
  startedAt: integer(),
  /** How many steps of its escalation are done. */
  step: integer(),
  escalateAt: integer().nullable(),
  repeatAt: integer().nullable(),
  /** The earlier of the two. */
  dueAt: integer().nullable(),
})

export const dampings = defineColumns({
  alertId: text(),
  tellings: json<readonly number[]>(),
  weight: integer<AlertWeight>(),
  quietSince: integer().nullable(),
  changes: integer(),
  dueAt: integer().nullable(),
})

export const { changeRows, db, names, pages, readRow, readRows } = schemaOf({
  alert_notifications: notifications,
  alert_messages: channelMessages,
  alert_channels: channels,
  alert_told: notifiedStates,
  alert_episodes: episodes,
  alert_dampings: dampings,
})
