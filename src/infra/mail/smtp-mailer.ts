import { createHash } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { NodemailerError } from 'nodemailer'
import { escapeHtml, decodeUrlPart } from '../../kernel/text.ts'
import { SECOND } from '../../kernel/time.ts'
import { type Secret, REDACTED } from '../../kernel/secret.ts'
import { AppError } from '../../kernel/errors.ts'
import type {
  ChannelMessage,
  MessageAbout,
  NotificationChannel,
  SendOutcome,
} from '../../ports/notification-channel.ts'

/** One mail of plain text; its HTML form is made from it. */
interface Mail {
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
type MailOutcome =
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

const SEND_TIMEOUT_MS = 10_000
// A line of a header has at most 998 characters (RFC 5322, section 2.1.1), and no reader needs more.
const MAX_REFERENCES = 10

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

/** Sends by an SMTP server. An invalid URL is refused with an AppError that does not repeat it. */
export class SmtpMailer implements Mailer {
  readonly #url: URL
  readonly #from: string
  readonly #to: readonly string[]
  readonly #timeoutMs: number

  constructor({ url, from, to, timeoutMs = SEND_TIMEOUT_MS }: MailerOptions) {
    this.#url = parseSmtpUrl(url.reveal())
    this.#from = from
    this.#to = to
    this.#timeoutMs = timeoutMs
  }

  async send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome> {
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const stop = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      return await this.#deliver(mail, stop)
    } catch (error) {
      if (!stop.aborted) return toFailure(error, this.#url)
      const reason = signal?.aborted ? 'interrupted' : `not taken within ${this.#timeoutMs / SECOND} s`
      return { outcome: 'failed', reason, retryable: true, isUncertain: true }
    }
  }

  /** Refers to the root of each conversation: a mail that was never sent, so that none has to come first. */
  #conversation(threads: readonly string[]) {
    const roots = threads.slice(0, MAX_REFERENCES).map((thread) => messageId(`thread:${thread}`, this.#from))
    return roots.length === 0 ? {} : { references: roots, inReplyTo: roots[0] }
  }

  async #deliver(
    { subject, text, key, threads = [], recipients = this.#to }: Mail,
    signal: AbortSignal,
  ): Promise<MailOutcome> {
    // Loaded here: most rounds of the notifier send nothing.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      url: this.#url.href,
      disableFileAccess: true,
      disableUrlAccess: true,
      connectionTimeout: this.#timeoutMs,
      greetingTimeout: this.#timeoutMs,
      socketTimeout: this.#timeoutMs,
      // A server that does not close its side must not keep the process alive.
      socketCloseTimeout: 0,
    })
    const { rejectedErrors = [] } = await transport.sendMail({
      from: this.#from,
      to: [...this.#to],
      envelope: { from: this.#from, to: [...recipients] },
      subject,
      text,
      html: toHtml(subject, text),
      messageId: messageId(key, this.#from),
      ...this.#conversation(threads),
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal,
    })
    const toRejection = ({ recipient = '', response = '' }: NodemailerError): Rejection => ({
      recipient,
      answer: quote(response, this.#url),
    })
    const deferred = rejectedErrors.filter(({ permanent }) => permanent === false)
    const refused = rejectedErrors.filter(({ permanent }) => permanent !== false)
    return { outcome: 'sent', refused: refused.map(toRejection), deferred: deferred.map(toRejection) }
  }
}

function messageId(key: string, from: string): string {
  const domain = /@([^\s<>@]+)/.exec(from)?.[1] ?? 'localhost'
  return `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}@${domain}>`
}

const LINE_STYLE = 'min-height: 1.4em; margin-bottom: 6px; white-space: pre-wrap'
// Brackets belong to an address in pairs; a mark at its end belongs to the sentence.
const ADDRESS = /(https?:\/\/(?:[^\s<>"'()]|\([^\s<>"'()]*\))*(?:[^\s<>"'().,;:!?\]]|\([^\s<>"'()]*\)))/

/** A plain text as HTML, each line on its own: of several alerts each is one. Markup in the text stays text. */
function toHtml(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html><body style="font-family: sans-serif; line-height: 1.4">',
    `<p><strong>${escapeHtml(title)}</strong></p>`,
    ...text.split('\n').map((line) => `<div style="${LINE_STYLE}">${withLinks(line)}</div>`),
    '</body></html>',
  ].join('\n')
}

/** A text as HTML, its addresses as links. */
function withLinks(text: string): string {
  return text
    .split(ADDRESS)
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : linkTo(escapeHtml(part))))
    .join('')
}

const linkTo = (url: string) => `<a href="${url}">${url}</a>`

const MAX_QUOTE_CHARACTERS = 200

interface SmtpError {
  readonly code?: unknown
  readonly message?: unknown
  readonly command?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
}

/** The outcome of a failed delivery. Its reason names the step and the server's answer, without credentials. */
function toFailure(error: unknown, server: URL): MailOutcome {
  const { code, command, responseCode, response, message }: SmtpError = Object(error)
  const step = typeof command === 'string' ? ` at ${command.split(' ')[0]}` : ''
  const words = [response, message].find((text) => typeof text === 'string' && text !== '')
  const answer = typeof words === 'string' ? `: ${quote(words, server)}` : ''
  // 5xx is a permanent answer (RFC 5321, section 4.2.1); other failures may be temporary.
  const isPermanent = typeof responseCode === 'number' && responseCode >= 500
  const verb = typeof command === 'string' ? command.split(' ')[0] : ''
  // Other steps are about the sender and its password.
  const isOfMail = typeof responseCode === 'number' && (verb === 'RCPT' || verb === 'DATA')
  return {
    outcome: 'failed',
    reason: `${typeof code === 'string' ? code : 'failed'}${step}${answer}`,
    retryable: !isPermanent,
    isRefused: isOfMail && isPermanent,
    isDeferred: isOfMail && !isPermanent && responseCode !== 421,
    isUncertain: verb === 'DATA' && typeof responseCode !== 'number',
  }
}

function quote(text: string, server: URL): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const redacted = credentialsIn(server).reduce((rest, word) => rest.replaceAll(word, REDACTED), line)
  return redacted.length > MAX_QUOTE_CHARACTERS ? `${redacted.slice(0, MAX_QUOTE_CHARACTERS)}…` : redacted
}

/** The password, in the forms in which it is sent to the server. */
function credentialsIn({ username, password }: URL): string[] {
  if (password === '') return []
  const [user, pass] = [username, password].map(decodeUrlPart) as [string, string]
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [password, pass, base64(pass), base64(`\0${user}\0${pass}`)]
}

/** The parameters that an address may have; all others of nodemailer are refused: some print or redirect the mail. */
const PARAMETERS = [
  'requireTLS',
  'authMethod',
  'name',
  'tls.rejectUnauthorized',
  'tls.servername',
  'tls.minVersion',
]

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * The address of a mail server, for nodemailer. A password needs TLS, except to a loopback address. What is refused
 * is refused with an AppError that does not repeat the address.
 */
export function parseSmtpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw refusal("The mail server's address must be an smtp or smtps URL.")
  if ([...url.searchParams.keys()].some((name) => !PARAMETERS.includes(name)))
    throw refusal(`The mail server's address may have no parameters but ${PARAMETERS.join(', ')}.`)
  if (url.protocol === 'smtp:' && url.password !== '' && !isLoopback(url.hostname)) requireTls(url)
  return url
}

function requireTls(url: URL): void {
  if (url.searchParams.getAll('requireTLS').some((value) => value !== 'true'))
    throw refusal(
      "The mail server's address has a password, which needs TLS except to a loopback address: leave requireTLS out.",
    )
  // Without it an attacker who removes STARTTLS from the server's answer would get the password.
  url.searchParams.set('requireTLS', 'true')
}

/** `localhost` names a loopback address by RFC 6761, section 6.3. */
function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return (
    host === 'localhost' || (isIP(host) !== 0 && LOOPBACK.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'))
  )
}

function refusal(message: string): AppError {
  return new AppError('invalid', 'validation_failed', message)
}

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
