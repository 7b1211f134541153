import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

const SMTP_USER = 'notifier'
export const SMTP_PASSWORD = 'canary-mail-password'

/** A mail server with STARTTLS, a self-signed certificate and a password. */
export interface SmtpServer extends AsyncDisposable {
  /** The URL with user and password. The certificate is self-signed. */
  url(parameters?: string): string
  /** The certificate, for NODE_EXTRA_CA_CERTS. */
  readonly certificateFile: string
  readonly mails: readonly ReceivedMail[]
  /** All received passwords, right or wrong. */
  readonly passwords: readonly string[]
  /** Makes this step fail from now on; undefined: no step fails. */
  fail(step: SmtpStep | undefined, code?: number, message?: string): void
  /** Takes mails for late@example.com from now on, whom it has put off. */
  endGreylisting(): void
}

export type SmtpStep = 'connect' | 'auth' | 'mail' | 'rcpt' | 'data'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly encrypted: boolean
  /** As received: headers, empty line, body. */
  readonly source: string
}

interface Fault {
  readonly step: SmtpStep
  readonly code: number
  readonly message: string
}

export async function startSmtp(options: SMTPServerOptions = {}): Promise<SmtpServer> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-smtp-'))
  const certificate = await createCertificate(directory)
  const mails: ReceivedMail[] = []
  const passwords: string[] = []
  let fault: Fault | undefined
  let isGreylisting = true
  const at = (step: SmtpStep, then: () => void, refuse: (error: Error) => void) => {
    if (fault?.step === step) refuse(Object.assign(new Error(fault.message), { responseCode: fault.code }))
    else then()
  }
  const server = new SMTPServer({
    key: certificate.key,
    cert: certificate.cert,
    allowInsecureAuth: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect: (_session, done) => at('connect', done, done),
    onAuth(auth, _session, done) {
      passwords.push(auth.password ?? '')
      const isRight = auth.username === SMTP_USER && auth.password === SMTP_PASSWORD
      const accept = () => (isRight ? done(null, { user: auth.username }) : done(new Error('wrong password')))
      at('auth', accept, done)
    },
    onMailFrom: (_address, _session, done) => at('mail', done, done),
    onRcptTo(address, _session, done) {
      if (address.address.startsWith('nobody@')) {
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
      } else if (isGreylisting && address.address.startsWith('late@')) {
        done(Object.assign(new Error('greylisted'), { responseCode: 450 }))
      } else at('rcpt', done, done)
    },
    onData(stream, session, done) {
      const { mailFrom, rcptTo } = session.envelope
      const chunks: Buffer[] = []
      const accept = () => {
        const source = Buffer.concat(chunks).toString('utf8')
        const from = mailFrom === false ? '' : mailFrom.address
        mails.push({ from, to: rcptTo.map(({ address }) => address), encrypted: session.secure, source })
        done()
      }
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => at('data', accept, done))
    },
    ...options,
  })
  // Some tests close connections during a mail.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: (parameters = '') =>
      `smtp://${SMTP_USER}:${encodeURIComponent(SMTP_PASSWORD)}@localhost:${port}/${parameters}`,
    certificateFile: certificate.file,
    mails,
    passwords,
    fail(step, code = 451, message = 'try again later') {
      fault = step && { step, code, message }
    },
    endGreylisting() {
      isGreylisting = false
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export async function createCertificate(
  directory: string,
): Promise<{ key: string; cert: string; file: string }> {
  const [key, file] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const where = ['-keyout', key, '-out', file, '-days', '2']
  await promisify(execFile)('openssl', ['req', '-x509', ...curve, ...where, ...names], { timeout: 120_000 })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(file, 'utf8'), file }
}
