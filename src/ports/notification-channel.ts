import type { RateLimit } from '../kernel/waiting.ts'
import type { Tx } from '../store/store.ts'

/** Where a message leads: to the alert in the console, to its runbook, or to what else it is about. */
export interface MessageLink {
  readonly kind: 'open' | 'acknowledge' | 'runbook'
  readonly url: string
}

/** What a message about alerts is about, for channels that show more than text. */
export interface MessageAbout {
  /** Why people are told, without repetition. */
  readonly occasions: readonly string[]
  /** Whether an alert of it fires. */
  readonly isFiring: boolean
  /** The highest severity: of what fires, or of what the receiver was told before it was over. */
  readonly severity: string
  /** Ids of its alerts, by which the mails about one are a thread. */
  readonly alertIds: readonly string[]
  /** The alerts as the API shows them, each as JSON; empty unless the channel needs them. */
  readonly alerts: readonly string[]
}

/** A message to people. Plain text: markup in it has no effect. */
export interface ChannelMessage {
  readonly title: string
  readonly text: string
  /** Severity in the sender's words. */
  readonly level: string
  /** The same for each attempt to send one message, so that a receiver can recognise a repetition. */
  readonly key: string
  readonly links?: readonly MessageLink[]
  /** Left out of a message that is not about alerts. */
  readonly about?: MessageAbout
  /** The recipients that have not received it yet (`missed` of the attempt before). Left out: all. */
  readonly recipients?: readonly string[]
}

/**
 * Whether a message failed by itself (the receiver refuses this one) or would have failed whatever it said: the receiver
 * is away, overloaded, or does not accept the address, the token or the signature. `recipients`: the ones that the message
 * names are refused, which says nothing about the others.
 */
export type SendFault = 'message' | 'receiver' | 'recipients'

/**
 * The outcome of one attempt. `answer` and `reason` contain no credentials of the channel. `retryable`: the same message
 * may succeed later; otherwise a setting or the message must be changed first. `pauseMs`: the channel asks for that pause.
 * `warning`: which recipients did not get the message. `missed`: the recipients among them to whom it can be sent later.
 * `isUncertain`: there was no answer, so the receiver may have got the message.
 */
export type SendOutcome =
  | {
      readonly sent: true
      readonly answer: string
      readonly warning?: string
      readonly missed?: readonly string[]
    }
  | {
      readonly sent: false
      readonly reason: string
      readonly retryable: boolean
      readonly fault: SendFault
      readonly pauseMs?: number
      readonly isUncertain?: boolean
    }

/** Where notifications of alerts are sent, such as the robot of a group chat. Nothing to close. */
export interface NotificationChannel {
  /** The caller keeps this limit; a channel does not wait. */
  readonly rate: RateLimit
  /** Whether it needs to know what a message is about, and with `alerts` also the alerts themselves. */
  readonly needs?: 'about' | 'alerts'
  /** Whether the message is short enough to be sent as one. */
  fits(message: ChannelMessage): boolean
  /** Sends a message that fits, in one request of limited duration. Never rejects; may be called again for a message. */
  send(message: ChannelMessage, signal?: AbortSignal): Promise<SendOutcome>
}

/** A message to people that is not about an alert. */
export interface Notice {
  /** The same for each attempt to send one notice: while one with this key waits for a receiver, another is not queued. */
  readonly key: string
  readonly title: string
  readonly text: string
  /** Where it leads, such as a page of the console. */
  readonly url?: string
}

/** Where a domain tells the configured receivers something (docs/specification.md, Alert notifications). */
export interface Notices {
  /**
   * Queues one message to each of the receivers in the caller's transaction; it is sent after the commit, and retried for
   * 24 hours. A name that is not configured is left out.
   */
  tell(tx: Tx, receivers: readonly string[], notice: Notice): Promise<void>
}
