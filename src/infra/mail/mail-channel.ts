import type { ChannelMessage, NotificationChannel, SendOutcome } from '../../ports/notification-channel.ts'
import type { Mailer } from './mail.ts'
import { SmtpMailer, type MailerOptions } from './smtp-mailer.ts'

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

  async send({ title, text, level, key, about }: ChannelMessage, signal?: AbortSignal): Promise<SendOutcome> {
    const isFiring = about !== undefined && about.alertIds.length > 0 && level !== 'CLOSE'
    const subject = isFiring ? `FIRING ${title}` : title
    const mail = { subject, text, key, threads: about?.alertIds ?? [] }
    const result = await this.#mailer.send(mail, signal)
    if (result.outcome === 'failed') {
      const { reason, retryable, isRefused = false, isUncertain = false } = result
      return { sent: false, reason, retryable, fault: isRefused ? 'message' : 'receiver', isUncertain }
    }
    const { refused } = result
    return {
      sent: true,
      answer: 'The mail server has taken the mail.',
      ...(refused.length > 0 && { warning: `Refused for ${refused.join(', ')}.` }),
    }
  }
}
