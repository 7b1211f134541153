import type {
  ChannelMessage,
  MessageAbout,
  NotificationChannel,
  SendOutcome,
} from '../../ports/notification-channel.ts'
import { type Mailer, type Rejection, SmtpMailer, type MailerOptions } from './smtp-mailer.ts'

const MAX_BYTES = 262_144

/** Notifications by mail, the ones about one alert as one conversation. */
export class MailChannel implements NotificationChannel {
  // Servers do not document a limit; one mail for a group needs few.
  readonly rate = { burst: 20, everyMs: 3_000 }
  readonly needs = 'about'
  readonly #mailer: Mailer

  constructor(options: MailerOptions) {
    this.#mailer = new SmtpMailer(options)
  }

  fits({ title, text }: ChannelMessage): boolean {
    return Buffer.byteLength(title) + Buffer.byteLength(text) <= MAX_BYTES
  }

  async send(
    { title, text, key, about, recipients }: ChannelMessage,
    signal?: AbortSignal,
  ): Promise<SendOutcome> {
    const subject = about && about.alertIds.length > 0 ? subjectOf(title, about) : title
    const mail = { subject, text, key, threads: about?.alertIds ?? [], ...(recipients && { recipients }) }
    const result = await this.#mailer.send(mail, signal)
    if (result.outcome === 'failed') {
      const { reason, retryable, isRefused = false, isDeferred = false, isUncertain = false } = result
      const ofMessage = isRefused ? 'message' : 'receiver'
      const fault = recipients && (isRefused || isDeferred) ? 'recipients' : ofMessage
      return { sent: false, reason, retryable, fault, isUncertain }
    }
    const { refused, deferred } = result
    const warning = [...warningOf('Refused', refused), ...warningOf('Put off', deferred)].join(' ')
    return {
      sent: true,
      answer: 'The mail server has taken the mail.',
      ...(warning !== '' && { warning }),
      ...(deferred.length > 0 && { missed: deferred.map(({ recipient }) => recipient) }),
    }
  }
}

function warningOf(what: string, rejections: readonly Rejection[]): string[] {
  return rejections.length === 0
    ? []
    : [`${what} for ${rejections.map(({ recipient, answer }) => `${recipient} (${answer})`).join(', ')}.`]
}

const AGAIN: Readonly<Record<string, string>> = { repeated: ' (still firing)', escalated: ' (escalated)' }

/** State, severity and title: `FIRING [ERROR] The disk is full`. */
function subjectOf(title: string, { isFiring, severity, occasions }: MessageAbout): string {
  const text = title.replace(/^\[[A-Z ]{1,40}\] /, '')
  const again = occasions.length === 1 ? (AGAIN[occasions[0] ?? ''] ?? '') : ''
  return `${isFiring ? 'FIRING' : 'RECOVERED'} [${severity}] ${text}${again}`
}
