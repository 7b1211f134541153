/** The subject of a notification. Mail is throttled per category. */
export type Category = 'ticket' | 'digest' | 'self-test'

export interface Notification {
  readonly category: Category
  readonly title: string
  readonly text: string
  readonly level: string
  /** Each attempt to send the same notification has the same key. */
  readonly key: string
}

/** `skipped`: not configured, or throttled. */
export const CHANNEL_OUTCOMES = ['sent', 'skipped', 'failed'] as const
export type ChannelOutcome = (typeof CHANNEL_OUTCOMES)[number]

export interface NotifyResult {
  readonly mail: ChannelOutcome
  readonly robot: ChannelOutcome
  /** Why a channel was skipped or failed; for one that sent, a problem that the operator should know. */
  readonly reasons: { readonly mail?: string; readonly robot?: string }
  /** The recipients that the mail server refused, of a mail that was sent to the others. */
  readonly refused?: readonly string[]
}

export interface NotifyOptions {
  /** The file with throttle and rate limits; by default beside the default state file. */
  readonly memoryFile?: string
  /** By default `NOTIFY_ENV_FILE`, else `/etc/platform/notify.env`. */
  readonly secretsFile?: string
  readonly ignoreThrottle?: boolean
  readonly signal?: AbortSignal
}

/** Sends by mail and by robot, at the same time. Never throws. */
export type Notify = (notification: Notification, options?: NotifyOptions) => Promise<NotifyResult>

/** The exports of `notify.ts` (released: `notify.mjs`). */
export interface NotifyModule {
  readonly notify: Notify
}

/** At least one channel took the notification. */
export const wasDelivered = ({ mail, robot }: NotifyResult): boolean => mail === 'sent' || robot === 'sent'

/** Whether both channels have failed; only then is the notification tried again (docs/specification.md, Ticket notifier). */
export const failedOnBoth = ({ mail, robot }: NotifyResult): boolean =>
  mail === 'failed' && robot === 'failed'
