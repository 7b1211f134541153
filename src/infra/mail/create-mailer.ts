import { createHash } from 'node:crypto'
import type { Secret } from '../../kernel/secret.ts'
import { toHtml } from './html.ts'
import type { Mail, Mailer, MailOutcome } from './mail.ts'
import { failureOf } from './smtp-failure.ts'
import { parseSmtpUrl } from './smtp-url.ts'

// contract, section 7: each send has a 10 s limit
const SEND_TIMEOUT_MS = 10_000

export interface MailerOptions {
  /**
   * `smtps://user:password@host:465` uses TLS from the start, `smtp://…:587` STARTTLS where the server offers it. A
   * password needs TLS, except to a loopback address. Parameters: see {@link parseSmtpUrl}.
   */
  readonly url: Secret
  readonly from: string
  readonly to: readonly string[]
  readonly timeoutMs?: number
}

/** A mailer for that server. An address that is none is refused with an AppError that does not repeat it. */
export function createMailer({ url, from, to, timeoutMs = SEND_TIMEOUT_MS }: MailerOptions): Mailer {
  const server = parseSmtpUrl(url.reveal())

  async function send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome> {
    const control = new AbortController()
    const timer = setTimeout(() => control.abort(`not taken within ${timeoutMs / 1_000} s`), timeoutMs)
    const stop = () => control.abort('interrupted')
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      return await deliver(mail, control.signal)
    } catch (error) {
      return control.signal.aborted
        ? { outcome: 'failed', reason: String(control.signal.reason), retryable: true }
        : failureOf(error, server)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }

  async function deliver({ subject, text, key }: Mail, signal: AbortSignal): Promise<MailOutcome> {
    // Most rounds of the notifier have nothing to send, and need not load it.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      url: server.href,
      disableFileAccess: true,
      disableUrlAccess: true,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // One who is cut off, or never hangs up, must not keep the process.
      socketCloseTimeout: 0,
    })
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      html: toHtml(subject, text),
      messageId: messageId(key, from),
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal,
    })
    return { outcome: 'sent', refused: rejected.map(String) }
  }

  return { send }
}

function messageId(key: string, from: string): string {
  const domain = /@([^\s<>@]+)/.exec(from)?.[1] ?? 'localhost'
  return `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}@${domain}>`
}
