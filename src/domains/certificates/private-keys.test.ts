import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CertificateAuthority, KEYS, openssl } from '../../../test/support/certificates.ts'
import { CERTIFICATE } from '../../../test/support/certificate-sample.ts'
import type { AppError } from '../../kernel/errors.ts'
import { readBundle } from './bundle.ts'
import { hasPrivateKey } from './private-keys.ts'

const authority = new CertificateAuthority()
after(() => authority[Symbol.dispose]())

const KINDS = { rsa: KEYS.rsa2048, ec: KEYS.p256, ed25519: KEYS.ed25519 } as const
const keys = new Map<string, string>()
for (const [kind, key] of Object.entries(KINDS)) keys.set(kind, (await authority.issue({ key })).keyPath)
const pathOf = (kind: string) => keys.get(kind) ?? assert.fail(kind)
const pkcs8 = (kind: string) => readFileSync(pathOf(kind), 'utf8')
const convert = (kind: string, ...options: string[]) => openssl(['pkey', '-in', pathOf(kind), ...options])
const ENCRYPTED = ['-aes256', '-passout', 'pass:a heavy brass telescope']

/** The key as DER in Base64, without the lines around it. */
const bodyOf = (pem: string) => pem.replaceAll(/-----[^-]+-----/g, '').trim()
const relabel = (pem: string, label: string) => pem.replaceAll(/(BEGIN|END) [A-Z ]+KEY/g, `$1 ${label}`)
const base64 = (text: string) => Buffer.from(text).toString('base64')

async function pkcs12(): Promise<string> {
  const { path, keyPath } = await authority.issue({})
  const out = join(authority.path, 'bundle.p12')
  await openssl(['pkcs12', '-export', '-in', path, '-inkey', keyPath, '-passout', 'pass:x', '-out', out])
  return readFileSync(out).toString('base64')
}

async function opensshKey(): Promise<string> {
  // The format of OpenSSH: only the beginning matters.
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), Buffer.alloc(120, 7)]).toString('base64')
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`
}

/** Every spelling, in words that a person would use for it. */
const SPELLINGS: Readonly<Record<string, () => string | Promise<string>>> = {
  'PKCS #8, RSA': () => pkcs8('rsa'),
  'PKCS #8, EC': () => pkcs8('ec'),
  'PKCS #8, Ed25519': () => pkcs8('ed25519'),
  'PKCS #1': () => convert('rsa', '-traditional'),
  'SEC 1': () => convert('ec', '-traditional'),
  'SEC 1 with its parameters': () => openssl(['ecparam', '-name', 'prime256v1', '-genkey']),
  'PKCS #8, encrypted': () => convert('rsa', ...ENCRYPTED),
  'PKCS #1, encrypted with headers': () => convert('rsa', '-traditional', ...ENCRYPTED),
  DSA: () => relabel(pkcs8('rsa'), 'DSA PRIVATE KEY'),
  OpenSSH: opensshKey,
  'OpenSSH, with the label of a certificate': async () => relabel(await opensshKey(), 'CERTIFICATE'),
  SSH2: () =>
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\nP2/56wAAA\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
  PGP: () => '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----',
  PuTTY: () => 'PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 14\nAAAA',
  age: () => 'AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQ',
  'the text form of OpenSSL': () => convert('rsa', '-noout', '-text'),
  'the text form of OpenSSL, EC': () => convert('ec', '-noout', '-text'),
  JWK: () => '{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}',
  'XML Signature': () => '<RSAKeyValue><Modulus>x</Modulus><InverseQ>ab</InverseQ></RSAKeyValue>',
  'PKCS #12 in Base64': pkcs12,
  'the label of a certificate': () => relabel(pkcs8('rsa'), 'CERTIFICATE'),
  'the label of a certificate, EC': async () => relabel(await convert('ec', '-traditional'), 'CERTIFICATE'),
  'the label of a certificate, encrypted': async () =>
    relabel(await convert('rsa', ...ENCRYPTED), 'CERTIFICATE'),
  'the label of a certificate, in one line': () =>
    relabel(pkcs8('rsa'), 'CERTIFICATE').replaceAll(/(?<!-)\n(?!-)/g, ''),
  'the label of a certificate, in lines of 8': () =>
    `-----BEGIN CERTIFICATE-----\n${bodyOf(pkcs8('rsa')).replaceAll('\n', '').replaceAll(/.{8}/g, '$&\n')}\n-----END CERTIFICATE-----`,
  'an unknown label': () => relabel(pkcs8('ec'), 'SOMETHING'),
  'a label of a public key': () => relabel(pkcs8('ec'), 'PUBLIC KEY'),
  'no label': () => bodyOf(pkcs8('rsa')),
  'no label, Ed25519': () => bodyOf(pkcs8('ed25519')),
  'a label in lower case': () => pkcs8('rsa').toLowerCase(),
  'a label with more spaces': () => pkcs8('rsa').replaceAll('PRIVATE KEY', ' PRIVATE   KEY '),
  'a label over two lines': () => pkcs8('rsa').replaceAll('PRIVATE KEY', 'PRIVATE\nKEY'),
  'other dashes': () => pkcs8('rsa').replaceAll('-----', '—'),
  'no END line': () => pkcs8('rsa').split('-----END')[0] ?? '',
  'no BEGIN line': () => pkcs8('rsa').split('KEY-----\n')[1] ?? '',
  'the first line only': () => pkcs8('rsa').split('\n').slice(0, 2).join('\n'),
  'the last lines only': () => pkcs8('rsa').split('\n').slice(-4).join('\n'),
  CRLF: () => pkcs8('rsa').replaceAll('\n', '\r\n'),
  'escaped line ends': () => pkcs8('rsa').replaceAll('\n', '\\n'),
  'no label, escaped line ends': () => `key\\n${bodyOf(pkcs8('rsa')).replaceAll('\n', '\\n')}`,
  'the encoding of a URL': () => encodeURIComponent(pkcs8('rsa')),
  'the encoding of a form': () => new URLSearchParams({ key: pkcs8('rsa') }).toString(),
  'Base64 once more': () => base64(pkcs8('rsa')),
  'Base64 once more, in YAML': () => `  tls.key: ${base64(pkcs8('ec'))}\n`,
  'a comment': () => pkcs8('ec').replaceAll(/^/gm, '# '),
}

for (const [spelling, key] of Object.entries(SPELLINGS)) {
  test(`a private key is refused in this spelling: ${spelling}`, async () => {
    const text = await key()
    const arrangements = [
      text,
      `${text}\n${CERTIFICATE}`,
      CERTIFICATE + text,
      `${CERTIFICATE}${text}\n${CERTIFICATE}`,
    ]
    for (const pem of arrangements) {
      const error = await readBundle(pem).then(
        () => assert.fail('accepted'),
        (refusal: AppError) => refusal,
      )
      assert.equal(error.code, 'private_key_refused', error.message)
      const said = JSON.stringify([error.message, error.details, String(error.cause)])
      for (const line of text.split('\n')) assert.ok(line.length < 20 || !said.includes(line))
    }
  })
}

test('what is no private key is not taken for one', async () => {
  const { pem, path } = await authority.issue({ key: KEYS.rsa2048 })
  const texts = [
    CERTIFICATE,
    pem,
    await openssl(['x509', '-in', path, '-text']),
    await openssl(['x509', '-in', path, '-noout', '-pubkey']),
    'Bag Attributes\n    localKeyID: 01 02\n    friendlyName: my private key\nKey Attributes: <No Attributes>',
    '# The private key of this certificate is in the vault. BEGIN of the chain:',
    'subject=CN = shop\nissuer=CN = root',
    'shop',
    '',
  ]
  for (const text of texts) assert.equal(hasPrivateKey(text), false, text)
})

test('any text is judged in time that grows no faster than its length', () => {
  const length = 1_000_000
  const texts = [
    '-',
    'BEGIN ',
    'BEGIN PRIVATE ',
    'A',
    '-A',
    'MIIE',
    '\\n',
    '"d":"',
    ' ',
    'LS0tLS1CRUdJTi',
    '--a\n',
  ]
  for (const text of texts) hasPrivateKey(text.repeat(Math.ceil(length / text.length)))
})
