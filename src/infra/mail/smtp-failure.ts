import { REDACTED } from '../../kernel/secret.ts'
import type { MailOutcome } from './mail.ts'

const MAX_QUOTE_CHARACTERS = 200

interface SmtpError {
  readonly code?: unknown
  readonly message?: unknown
  readonly command?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
}

/** The outcome of a failed delivery. Its reason names the step and the server's answer, without credentials. */
export function toFailure(error: unknown, server: URL): MailOutcome {
  const { code, command, responseCode, response, message }: SmtpError = Object(error)
  const step = typeof command === 'string' ? ` at ${command.split(' ')[0]}` : ''
  const said = [response, message].find((text) => typeof text === 'string' && text !== '')
  const answer = typeof said === 'string' ? `: ${quote(said, server)}` : ''
  // 5xx is a permanent answer (RFC 5321, section 4.2.1); other failures may be temporary.
  const isPermanent = typeof responseCode === 'number' && responseCode >= 500
  const verb = typeof command === 'string' ? command.split(' ')[0] : ''
  return {
    outcome: 'failed',
    reason: `${typeof code === 'string' ? code : 'failed'}${step}${answer}`,
    retryable: !isPermanent,
    // Other steps are about the sender and its password.
    isRefused: isPermanent && (verb === 'RCPT' || verb === 'DATA'),
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
  const [user, pass] = [username, password].map(decode) as [string, string]
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [password, pass, base64(pass), base64(`\0${user}\0${pass}`)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
