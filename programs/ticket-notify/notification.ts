/** What a notification is about; mail is throttled by it. */
export type Category = 'ticket' | 'digest' | 'self-test'

export interface Notification {
  readonly category: Category
  readonly title: string
  readonly text: string
  readonly level: string
  /** The same for each attempt at telling the same thing. */
  readonly key: string
}

/** `skipped`: not configured, or throttled. */
export const CHANNEL_OUTCOMES = ['sent', 'skipped', 'failed'] as const
export type ChannelOutcome = (typeof CHANNEL_OUTCOMES)[number]

export interface NotifyResult {
  readonly mail: ChannelOutcome
  readonly robot: ChannelOutcome
  /** Why a channel was skipped or has failed, and what the operator should know of one that sent. */
  readonly reasons: { readonly mail?: string; readonly robot?: string }
}

export interface NotifyOptions {
  /** Where throttle and rate limits are remembered; by default beside the default state file. */
  readonly memoryFile?: string
  /** By default `NOTIFY_ENV_FILE`, else `/etc/platform/notify.env`. */
  readonly secretsFile?: string
  readonly ignoreThrottle?: boolean
  readonly signal?: AbortSignal
}

/** Tells people by mail and by robot, at the same time. Never throws. */
export type Notify = (notification: Notification, options?: NotifyOptions) => Promise<NotifyResult>

/** What the neighbouring file `notify.ts` (released: `notify.mjs`) exports. */
export interface NotifyModule {
  readonly notify: Notify
}

/** Somebody has been told. */
export const wasHeard = ({ mail, robot }: NotifyResult): boolean => mail === 'sent' || robot === 'sent'

/** spec, rule 6: only when both channels fail is the notification tried again. */
export const mustBeRetried = ({ mail, robot }: NotifyResult): boolean =>
  mail === 'failed' && robot === 'failed'
