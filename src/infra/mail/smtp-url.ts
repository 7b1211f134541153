import { BlockList, isIP } from 'node:net'
import { AppError } from '../../kernel/errors.ts'

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
