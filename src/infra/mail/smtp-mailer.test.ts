import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { SMTP_PASSWORD, startSmtp, type SmtpServer, type SmtpStep } from '../../../test/support/smtp.ts'
import { Secret } from '../../kernel/secret.ts'
import { MailChannel, type MailerOptions, SmtpMailer, parseSmtpUrl } from './smtp-mailer.ts'

const MAIL = {
  subject: '[HIGH] New ticket: <b>磁盘</b>',
  text: 'Ticket: t-1\nTitle: <script>',
  key: 'ticket:t-1:new:',
}
const UNVERIFIED = '?tls.rejectUnauthorized=false'

const SENT = { outcome: 'sent', refused: [], deferred: [] } as const

function mailerOf(url: string, options: Partial<MailerOptions> = {}) {
  return new SmtpMailer({
    url: new Secret(url),
    from: 'Platform <platform@example.com>',
    to: ['ops@example.com', 'boss@example.com'],
    ...options,
  })
}

const channelOf = (url: string, to: readonly string[]) =>
  new MailChannel({ url: new Secret(url), from: 'platform@example.com', to })

const headerOf = ({ source }: SmtpServer['mails'][number], name: string) =>
  new RegExp(`^${name}: (.*(?:\r\n[ \t].*)*)`, 'im').exec(source.split('\r\n\r\n')[0] ?? '')?.[1]

test('a mail is sent encrypted, as text and HTML, marked as generated', async () => {
  await using server = await startSmtp()
  assert.deepEqual(await mailerOf(server.url(UNVERIFIED)).send(MAIL), SENT)
  const [mail] = server.mails
  assert.ok(mail)
  assert.deepEqual(
    [mail.encrypted, mail.from, mail.to],
    [true, 'platform@example.com', ['ops@example.com', 'boss@example.com']],
  )
  assert.equal(headerOf(mail, 'Auto-Submitted'), 'auto-generated')
  assert.match(headerOf(mail, 'Message-ID') ?? '', /^<[0-9a-f]{40}@example\.com>$/)
  assert.match(headerOf(mail, 'Content-Type') ?? '', /multipart\/alternative/)
  assert.match(mail.source, /Content-Type: text\/plain; charset=utf-8/)
  assert.match(mail.source, /Content-Type: text\/html; charset=utf-8/)
  assert.match(mail.source, /&lt;script&gt;/)
})

test('an address in a text is a link without what closes it or its sentence', async () => {
  await using server = await startSmtp()
  const text = 'See <https://a.b/c?d=1&e>, "https://f.g/h", (https://i.j/k_(l)). https://m.n/o!'
  await mailerOf(server.url(UNVERIFIED)).send({ ...MAIL, text })
  const html = (server.mails[0]?.source ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
  assert.deepEqual(links, ['https://a.b/c?d=1&amp;e', 'https://f.g/h', 'https://i.j/k_(l)', 'https://m.n/o'])
})

test('the Message-ID is the same for the same key only', async () => {
  await using server = await startSmtp()
  const mailer = mailerOf(server.url(UNVERIFIED))
  for (const key of ['one', 'one', 'two']) await mailer.send({ ...MAIL, key })
  const [first, again, other] = server.mails.map((mail) => headerOf(mail, 'Message-ID'))
  assert.equal(first, again)
  assert.notEqual(first, other)
})

test('a line break in a title adds no header', async () => {
  await using server = await startSmtp()
  await mailerOf(server.url(UNVERIFIED)).send({ ...MAIL, subject: 'x\r\nBcc: thief@example.com\r\n\r\nbody' })
  assert.equal(headerOf(server.mails[0] ?? assert.fail(), 'Bcc'), undefined)
  assert.equal(server.mails[0]?.to.length, 2)
})

test('a server with an untrusted certificate gets no password', async () => {
  await using server = await startSmtp()
  const outcome = await mailerOf(server.url()).send(MAIL)
  assert.equal(outcome.outcome, 'failed')
  assert.deepEqual(server.passwords, [])
})

test('a server without STARTTLS gets the password on a loopback address only', async () => {
  await using server = await startSmtp({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
  // Reaches this host, and is no loopback address.
  const elsewhere = server.url(UNVERIFIED).replace('localhost', '0.0.0.0')
  assert.equal((await mailerOf(elsewhere).send(MAIL)).outcome, 'failed')
  assert.deepEqual(server.passwords, [])
  assert.deepEqual(await mailerOf(server.url()).send(MAIL), SENT)
  assert.equal(server.mails[0]?.encrypted, false)
})

test('smtps uses TLS from the start', async () => {
  await using server = await startSmtp({ secure: true })
  const url = server.url(UNVERIFIED).replace('smtp:', 'smtps:')
  assert.deepEqual(await mailerOf(url).send(MAIL), SENT)
  assert.equal(server.mails[0]?.encrypted, true)
})

test('a refused recipient does not stop the mail to the others', async () => {
  await using server = await startSmtp()
  const mailer = mailerOf(server.url(UNVERIFIED), { to: ['ops@example.com', 'nobody@example.com'] })
  const refused = [{ recipient: 'nobody@example.com', answer: '550 no such mailbox' }]
  assert.deepEqual(await mailer.send(MAIL), { ...SENT, refused })
})

test('a recipient who is put off gets the same mail later, alone', async () => {
  await using server = await startSmtp()
  const channel = channelOf(server.url(UNVERIFIED), [
    'ops@example.com',
    'late@example.com',
    'nobody@example.com',
  ])
  const message = { title: 'Full', text: 'Disk', level: 'ERROR', key: 'one' }
  const sent = await channel.send(message)
  assert.deepEqual(sent, {
    sent: true,
    answer: 'The mail server has taken the mail.',
    warning:
      'Refused for nobody@example.com (550 no such mailbox). Put off for late@example.com (450 greylisted).',
    missed: ['late@example.com'],
  })
  const again = { ...message, recipients: ['late@example.com'] }
  const refused = await channel.send(again)
  assert.ok(!refused.sent)
  assert.deepEqual([refused.retryable, refused.fault], [true, 'recipients'])
  server.endGreylisting()
  assert.ok((await channel.send(again)).sent)
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [['ops@example.com'], ['late@example.com']],
  )
  const [first, second] = server.mails.map((mail) => ['Message-ID', 'To'].map((name) => headerOf(mail, name)))
  assert.deepEqual(second, first)
  const gone = await channel.send({ ...message, recipients: ['nobody@example.com'] })
  assert.ok(!gone.sent)
  assert.deepEqual([gone.retryable, gone.fault], [false, 'recipients'])
})

const FAULTS: readonly [step: SmtpStep, code: number, retryable: boolean][] = [
  ['connect', 421, true],
  ['auth', 454, true],
  ['auth', 535, false],
  ['mail', 451, true],
  ['rcpt', 450, true],
  ['rcpt', 550, false],
  ['data', 451, true],
  ['data', 552, false],
]

for (const [step, code, retryable] of FAULTS) {
  test(`${code} at ${step} is a ${retryable ? 'temporary' : 'permanent'} failure without the password`, async () => {
    await using server = await startSmtp()
    // In the forms of AUTH LOGIN and AUTH PLAIN, too.
    const sent = [SMTP_PASSWORD, `\0notifier\0${SMTP_PASSWORD}`]
    const echoed = [SMTP_PASSWORD, ...sent.map((text) => Buffer.from(text).toString('base64'))]
    server.fail(step, code, `refused, you said ${echoed.join(' and ')}`)
    const outcome = await mailerOf(server.url(UNVERIFIED)).send(MAIL)
    assert.ok(outcome.outcome === 'failed', inspect(outcome))
    assert.match(outcome.reason, new RegExp(String(code)))
    assert.equal(outcome.retryable, retryable)
    for (const word of echoed) assert.ok(!inspect(outcome).includes(word), inspect(outcome))
    assert.deepEqual(server.mails, [])
  })
}

/** A server without a protocol. */
async function rawServer(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** The server's side of a delivery, up to the point where the whole mail is there. */
function takeMail(socket: Socket, whenComplete: () => void): void {
  let mail: string | undefined
  socket.write('220 hello\r\n')
  socket.on('data', (data) => {
    const said = data.toString()
    if (mail !== undefined) mail += said
    if (mail?.endsWith('\r\n.\r\n')) whenComplete()
    else if (said.startsWith('DATA')) {
      mail = ''
      socket.write('354 go on\r\n')
    } else if (mail === undefined) socket.write('250 fine\r\n')
  })
}

const PATIENCE = { timeoutMs: 30_000 }
const OVER = /^not taken within 0\.3 s$/

/** What the server does, and the reason of the failure. */
const BAD_SERVERS: Readonly<Record<string, [onConnection: (socket: Socket) => void, reason: RegExp]>> = {
  'never greets': [() => {}, OVER],
  'says nothing after its greeting': [(socket) => void socket.write('220 hello\r\n'), OVER],
  'greets a letter now and then': [
    (socket) => {
      const timer = setInterval(() => socket.write('2'), 40)
      socket.on('close', () => clearInterval(timer))
    },
    OVER,
  ],
  'hangs up': [(socket) => void socket.destroy(), /closed|ECONNRESET/],
  'hangs up after the mail': [(socket) => takeMail(socket, () => void socket.destroy()), /closed|ECONNRESET/],
  'speaks another language': [
    (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /400 Bad Request/,
  ],
}

for (const [fault, [onConnection, reason]] of Object.entries(BAD_SERVERS)) {
  test(`a server that ${fault} is a temporary failure with its reason`, async () => {
    await using server = await rawServer(onConnection)
    const mailer = mailerOf(server.url, reason === OVER ? { timeoutMs: 300 } : PATIENCE)
    const outcome = await mailer.send(MAIL)
    assert.ok(outcome.outcome === 'failed' && outcome.retryable, inspect(outcome))
    assert.match(outcome.reason, reason)
  })
}

async function assertOnlyTheServersEndIsOpen(): Promise<void> {
  const open = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  // A socket that is destroyed is gone some turns of the event loop later; one that waits takes seconds.
  for (let turn = 0; turn < 10 && open() > 1; turn++) await immediate()
  assert.equal(open(), 1)
}

test('aborting a send ends it at once, and closes the connection', async () => {
  const { promise: isConnected, resolve } = Promise.withResolvers<void>()
  // A server that closes nothing by itself.
  await using server = await rawServer((socket) => {
    socket.write('220 hello\r\n')
    socket.once('data', () => resolve())
  })
  const control = new AbortController()
  const sending = mailerOf(server.url).send(MAIL, control.signal)
  await isConnected
  control.abort()
  assert.deepEqual(await sending, {
    outcome: 'failed',
    reason: 'interrupted',
    retryable: true,
    isUncertain: true,
  })
  await assertOnlyTheServersEndIsOpen()
})

test('the connection is closed after a mail', async () => {
  await using server = await rawServer((socket) => {
    takeMail(socket, () => void socket.write('250 taken\r\n'))
  })
  const outcome = await mailerOf(server.url).send(MAIL)
  assert.deepEqual(outcome, SENT)
  await assertOnlyTheServersEndIsOpen()
})

test('a failure to connect has its reason', async () => {
  await using server = await startSmtp()
  const reasons: readonly [url: string, reason: RegExp][] = [
    [server.url(), /self-signed certificate/],
    ['smtp://user:canary@127.0.0.1:1', /ECONNREFUSED/],
  ]
  for (const [url, reason] of reasons) {
    const outcome = await mailerOf(url).send(MAIL)
    assert.ok(outcome.outcome === 'failed', inspect(outcome))
    assert.match(outcome.reason, reason)
    assert.ok(!outcome.reason.includes('canary') && !outcome.reason.includes(SMTP_PASSWORD))
  }
})

test('an invalid address is refused without repeating it', () => {
  for (const address of ['canary', 'http://canary/', 'smtp://']) {
    assert.throws(
      () => mailerOf(address),
      (error: Error) => !inspect(error).includes('canary'),
    )
  }
})

const requiresTls = (url: string) => parseSmtpUrl(url).searchParams.get('requireTLS')

for (const host of [
  'mail.example.com',
  '0.0.0.0',
  '10.0.0.1',
  '128.0.0.1',
  '127.1',
  'localhost.example.com',
  '[::2]',
]) {
  test(`a password for ${host} needs TLS`, () => {
    assert.equal(requiresTls(`smtp://user:canary@${host}:587/`), 'true')
    assert.equal(requiresTls(`smtp://user:canary@${host}:587/?requireTLS=true`), 'true')
    for (const value of ['false', '0', '', 'true&requireTLS=false']) {
      assert.throws(
        () => parseSmtpUrl(`smtp://user:canary@${host}/?requireTLS=${value}`),
        (error: Error) => /needs TLS/.test(error.message) && !inspect(error).includes('canary'),
      )
    }
  })
}

for (const host of ['127.0.0.1', '127.8.9.10', 'localhost', 'LOCALHOST', '[::1]', '[::ffff:127.0.0.1]']) {
  test(`a password for ${host} needs no TLS, and may demand it`, () => {
    assert.equal(requiresTls(`smtp://user:canary@${host}:25/`), null)
    assert.equal(requiresTls(`smtp://user:canary@${host}:25/?requireTLS=true`), 'true')
  })
}

test('without a password, and with TLS from the start, nothing is added', () => {
  for (const url of ['smtp://mail.example.com', 'smtps://user:canary@mail.example.com'])
    assert.equal(requiresTls(url), null)
})

test('an address of another kind, or with another parameter, is refused without repeating it', () => {
  const parameters = [
    'pool=true',
    'logger=true',
    'debug=true',
    'proxy=http://canary',
    'ignoreTLS=true',
    'canary=1',
  ]
  const urls = ['canary', 'http://canary/', 'smtp://', ...parameters.map((each) => `smtp://canary/?${each}`)]
  for (const url of urls) {
    assert.throws(
      () => parseSmtpUrl(url),
      (error: Error) => !inspect(error).includes('canary'),
      url,
    )
  }
})
