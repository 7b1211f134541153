import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { CertificateAuthority, KEYS, type IssuedCertificate } from '../../../test/support/certificates.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { recordingLogger, type LoggedLine } from '../../../test/support/night-alerts.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { DAY } from '../../kernel/time.ts'
import { createHttpServer } from './server.ts'
import { readTls, TlsCertificate } from './tls-certificate.ts'

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const authority = resources.use(new CertificateAuthority())
const now = Date.UTC(2026, 5, 1)
const names = ['IP:127.0.0.1']
const first = await authority.issue({ names, from: Date.now() - DAY, to: Date.now() + DAY })
const second = await authority.issue({
  names,
  from: Date.now() - DAY,
  to: Date.now() + DAY,
  key: KEYS.rsa2048,
})
const directory = mkdtempSync(join(tmpdir(), 'platform-tls-'))
resources.defer(() => rmSync(directory, { recursive: true, force: true }))
const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }

function install({ path, keyPath }: Pick<IssuedCertificate, 'path' | 'keyPath'>): void {
  copyFileSync(path, files.certFile)
  copyFileSync(keyPath, files.keyFile)
  chmodSync(files.keyFile, 0o600)
}

install(first)
const server = await createHttpServer({
  routes: [],
  identify: () => undefined,
  logger: silentLogger,
  metrics: noMetrics,
  version: '0',
  readOnly: false,
  rateLimitPerMinute: 0,
  tls: readTls('api.tls', files),
})
const [host = '', port = ''] = (await server.listen({ host: '127.0.0.1', port: 0 })).split(':')
resources.defer(() => server.close())

/** What a handshake ends with. */
async function handshake(options: ConnectionOptions): Promise<string> {
  const socket = connect({ host, port: Number(port), ca: [first.pem, second.pem], ...options })
  try {
    await once(socket, 'secureConnect')
    return `${socket.getProtocol()} ${socket.getCipher().name} ${socket.getPeerCertificate().fingerprint256}`
  } catch {
    return 'refused'
  } finally {
    socket.destroy()
  }
}

const ALL = 'ALL:@SECLEVEL=0'
const HANDSHAKES: readonly (readonly [name: string, options: ConnectionOptions, outcome: RegExp])[] = [
  ['TLS 1.0', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: ALL }, /^refused$/],
  ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: ALL }, /^refused$/],
  ['TLS 1.2', { maxVersion: 'TLSv1.2' }, /^TLSv1\.2 ECDHE-/],
  ['TLS 1.3', { minVersion: 'TLSv1.3' }, /^TLSv1\.3 TLS_/],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'].map(
    (ciphers) => [ciphers, { ciphers, maxVersion: 'TLSv1.2' }, new RegExp(ciphers)] as const,
  ),
  ...[
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA',
    'AES128-GCM-SHA256',
    'DHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-AES256-CCM',
    'AECDH-AES128-SHA',
    'PSK-AES128-GCM-SHA256',
  ].map(
    (cipher) => [cipher, { ciphers: `${cipher}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' }, /^refused$/] as const,
  ),
]

for (const [name, options, outcome] of HANDSHAKES) {
  test(`a client with ${name} ends with ${outcome.source}`, async () => {
    assert.match(await handshake(options), outcome)
  })
}

test('a request over TLS is answered, and one without is cut off', async () => {
  const sent = request({ host, port, path: '/nowhere', ca: first.pem, agent: false }).end()
  const [response] = await once(sent, 'response')
  assert.equal(response.statusCode, 404)
  await text(response)
  const plain = connectPlainly(Number(port), host)
  plain.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.doesNotMatch(await text(plain).catch(() => ''), /HTTP/)
})

test('a changed pair is used for new connections; a bad one leaves it in use, with one warning', async () => {
  const logged: LoggedLine[] = []
  const logger = recordingLogger(logged)
  const clock = fakeClock(now)
  const use = server.useCertificate
  const context = readTls('api.tls', files)
  assert.ok(context)
  using certificate = new TlsCertificate(context, { setting: 'api.tls', files, clock, logger, use })
  const used = () => handshake({})
  const before = await used()
  certificate.check()
  assert.equal(await used(), before)
  install({ path: second.path, keyPath: first.keyPath })
  for (let count = 0; count < 3; count++) certificate.check()
  assert.equal(await used(), before, 'the key of another certificate')
  install(second)
  certificate.check()
  assert.notEqual(await used(), before)
  assert.equal(await handshake({ ciphers: 'AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }), 'refused')
  writeFileSync(files.certFile, 'nothing')
  for (let count = 0; count < 3; count++) certificate.check()
  install(first)
  process.emit('SIGHUP')
  assert.equal(await used(), before)
  assert.deepEqual(
    logged.map(({ message }) => message).filter((message) => !message.includes('ends soon')),
    [
      'the former certificate stays in use',
      'another certificate is used now',
      'the former certificate stays in use',
      'another certificate is used now',
    ],
  )
})

test('a certificate that ends within 14 days is warned of once a day', async () => {
  const issued = await authority.issue({ names, from: now - DAY, to: now + 15 * DAY })
  install(issued)
  const logged: LoggedLine[] = []
  const clock = fakeClock(now)
  const context = readTls('api.tls', files)
  assert.ok(context)
  using certificate = new TlsCertificate(context, {
    setting: 'api.tls',
    files,
    clock,
    logger: recordingLogger(logged),
    use: () => undefined,
  })
  const warnings = () => logged.filter(({ message }) => message.includes('ends soon')).length
  assert.equal(warnings(), 0)
  for (const expected of [1, 2]) {
    clock.advance(DAY)
    for (let count = 0; count < 3; count++) certificate.check()
    assert.equal(warnings(), expected)
  }
  clock.advance(14 * DAY)
  certificate.check()
  assert.match(JSON.stringify(logged.at(-1)), /"error".*has ended/)
})

test('files that cannot be used are named with their setting', () => {
  install(first)
  const refused = (change: () => void, expected: RegExp) => {
    install(first)
    change()
    if (expected.source.includes('the key of')) chmodSync(files.keyFile, 0o600)
    assert.throws(() => readTls('gateway.tls', files), expected)
  }
  refused(() => rmSync(files.keyFile), /key\.pem: gateway\.tls\.key_file: expected a file .*ENOENT/)
  refused(() => chmodSync(files.keyFile, 0o644), /gateway\.tls\.key_file: expected no access for others/)
  refused(() => copyFileSync(first.path, files.keyFile), /gateway\.tls\.key_file: expected the key of/)
  refused(() => copyFileSync(second.keyPath, files.keyFile), /gateway\.tls\.key_file: expected the key of/)
  refused(() => writeFileSync(files.certFile, ''), /gateway\.tls\.cert_file: expected certificates in PEM/)
  assert.equal(readTls('gateway.tls', {}), undefined)
})
