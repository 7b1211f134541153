/** One mail of plain text; its HTML form is made from it. */
export interface Mail {
  readonly subject: string
  readonly text: string
  /** The same for each attempt at one notification: it makes the Message-ID, by which mailboxes drop repetitions. */
  readonly key: string
}

/**
 * `sent`: the server has taken the mail, for all recipients but those named in `refused`.
 * `retryable`: the same mail may get through later; otherwise somebody must change something first.
 * `reason` is fit for a log: it holds no password.
 */
export type MailOutcome =
  | { readonly outcome: 'sent'; readonly refused: readonly string[] }
  | { readonly outcome: 'failed'; readonly reason: string; readonly retryable: boolean }

/** The way to the mail server. `send` never throws, opens a connection of its own and closes it. */
export interface Mailer {
  send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome>
}
