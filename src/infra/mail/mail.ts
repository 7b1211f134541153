/** One mail of plain text; its HTML form is made from it. */
export interface Mail {
  readonly subject: string
  readonly text: string
  /** The same for each attempt to send one mail. The Message-ID is made of it, so that mailboxes drop repetitions. */
  readonly key: string
  /** What it is about: the mails about one thing are shown as one conversation. */
  readonly threads?: readonly string[]
  /** Some of the recipients of the mailer; all of them if it is left out. */
  readonly recipients?: readonly string[]
}

/** A recipient for whom the server has not taken a mail, with its answer. */
export interface Rejection {
  readonly recipient: string
  readonly answer: string
}

/**
 * `sent`: the server took the mail for all recipients except `refused` (for good) and `deferred` (for now).
 * `retryable`: the same mail may succeed later; otherwise a setting must be changed first.
 * `reason` contains no password.
 */
export type MailOutcome =
  | {
      readonly outcome: 'sent'
      readonly refused: readonly Rejection[]
      readonly deferred: readonly Rejection[]
    }
  | {
      readonly outcome: 'failed'
      readonly reason: string
      readonly retryable: boolean
      /** Whether the server refuses this mail, for all its recipients or its content. */
      readonly isRefused?: boolean
      /** Whether the server takes this mail later, for all its recipients or by its content. */
      readonly isDeferred?: boolean
      /** Whether the server may have taken it. */
      readonly isUncertain?: boolean
    }

/** Sends mail. `send` never throws; each call opens and closes a connection. */
export interface Mailer {
  send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome>
}
