import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  CertificateAuthority,
  ISSUED_AT,
  KEYS,
  openssl,
  type IssuedCertificate,
  type WantedCertificate,
} from '../../../test/support/certificates.ts'
import { DAY } from '../../kernel/time.ts'
import { readBundle } from './bundle.ts'
import { certificateStatusOf, type CertificateStatus } from './model.ts'

const NOW = ISSUED_AT + 100 * DAY
const NAMES = ['DNS:Shop.example.com', 'DNS:*.example.com', 'IP:192.0.2.1', 'IP:2001:db8::1']
const LONG = ISSUED_AT + 3_650 * DAY

const authority = new CertificateAuthority()
after(() => authority[Symbol.dispose]())

/** The certificates that the bundles below are made of. */
const WANTED = {
  root: { subject: '/O=Zoo/CN=root', isCa: true, to: LONG },
  intermediate: { subject: '/O=Zoo/CN=intermediate', isCa: true, to: LONG, signer: 'root' },
  leaf: { subject: '/O=Zoo/CN=leaf', names: NAMES, signer: 'intermediate' },
  otherRoot: { subject: '/O=Zoo/CN=other root', isCa: true, to: LONG },
  // The name of the intermediate with another key.
  impostor: { subject: '/O=Zoo/CN=intermediate', isCa: true, to: LONG, signer: 'root', key: KEYS.p384 },
  // The intermediate, signed by the other root.
  crossSigned: {
    subject: '/O=Zoo/CN=intermediate',
    isCa: true,
    to: LONG,
    signer: 'otherRoot',
    sameKeyAs: 'intermediate',
  },
  shortIntermediate: {
    subject: '/O=Zoo/CN=short intermediate',
    isCa: true,
    to: ISSUED_AT + 120 * DAY,
    signer: 'root',
  },
  leafOfShort: { subject: '/O=Zoo/CN=leaf of short', names: NAMES, signer: 'shortIntermediate' },
  weakIntermediate: {
    subject: '/O=Zoo/CN=weak intermediate',
    isCa: true,
    key: KEYS.rsa1024,
    to: LONG,
    signer: 'root',
  },
  leafOfWeak: { subject: '/O=Zoo/CN=leaf of weak', names: NAMES, signer: 'weakIntermediate' },
  sha1Intermediate: {
    subject: '/O=Zoo/CN=sha1 intermediate',
    isCa: true,
    digest: 'sha1',
    to: LONG,
    signer: 'root',
  },
  leafOfSha1: { subject: '/O=Zoo/CN=leaf of sha1', names: NAMES, signer: 'sha1Intermediate' },
  sha1Root: { subject: '/O=Zoo/CN=sha1 root', isCa: true, digest: 'sha1', to: LONG },
  leafOfSha1Root: { subject: '/O=Zoo/CN=leaf of sha1 root', names: NAMES, signer: 'sha1Root' },
  sha1: { names: NAMES, digest: 'sha1', signer: 'root' },
  selfSigned: { names: NAMES },
  selfSignedSha1: { names: NAMES, digest: 'sha1' },
  selfSignedCa: { names: NAMES, isCa: true },
  rsa1024: { key: KEYS.rsa1024, signer: 'root' },
  rsa2048: { key: KEYS.rsa2048, signer: 'root' },
  rsa3072: { key: KEYS.rsa3072, signer: 'root' },
  rsa4096: { key: KEYS.rsa4096, signer: 'root' },
  p192: { key: KEYS.p192, signer: 'root' },
  p384: { key: KEYS.p384, signer: 'root' },
  p521: { key: KEYS.p521, signer: 'root' },
  ed25519: { key: KEYS.ed25519, signer: 'root' },
  rsaRoot: { subject: '/O=Zoo/CN=rsa root', isCa: true, key: KEYS.rsa2048, to: LONG },
  pss: { signer: 'rsaRoot', digest: 'sha256', options: ['-sigopt', 'rsa_padding_mode:pss'] },
  pssSha1: { signer: 'rsaRoot', digest: 'sha1', options: ['-sigopt', 'rsa_padding_mode:pss'] },
  ended: { names: NAMES, to: NOW - DAY, signer: 'root' },
  endsNow: { names: NAMES, to: NOW, signer: 'root' },
  endsIn30Days: { names: NAMES, to: NOW + 30 * DAY, signer: 'root' },
  endsAfter30Days: { names: NAMES, to: NOW + 30 * DAY + 1_000, signer: 'root' },
  begins: { names: NAMES, from: NOW + DAY, signer: 'root' },
} as const satisfies Record<string, Parts>

type Parts = Omit<WantedCertificate, 'signer' | 'sameKeyAs'> & {
  readonly signer?: string
  readonly sameKeyAs?: string
}
type Name = keyof typeof WANTED

const issued = new Map<string, IssuedCertificate>()
const certificateOf = (name: string) => issued.get(name) ?? assert.fail(`${name} is not issued`)

before(async () => {
  for (const [name, { signer, sameKeyAs, ...wanted }] of Object.entries<Parts>(WANTED)) {
    const certificate = await authority.issue({
      ...wanted,
      ...(signer !== undefined && { signer: certificateOf(signer) }),
      ...(sameKeyAs !== undefined && { sameKeyAs: certificateOf(sameKeyAs) }),
    })
    issued.set(name, certificate)
  }
})

interface Verdict {
  readonly key?: string
  readonly signature?: string
  readonly status?: CertificateStatus
  readonly warnings?: string
}

/** Bundles, the first certificate first. What a row leaves out is as in the first row. */
const ZOO: readonly (readonly [bundle: string, verdict: Verdict])[] = [
  ['leaf', {}],
  ['leaf intermediate', {}],
  ['leaf intermediate root', {}],
  ['leaf root intermediate', { warnings: 'chain_order' }],
  ['root intermediate leaf', { warnings: 'self_signed ca_as_leaf chain_order chain_expires_first' }],
  ['leaf root', { warnings: 'chain_broken' }],
  ['leaf otherRoot', { warnings: 'chain_broken' }],
  ['leaf impostor', { warnings: 'chain_broken' }],
  ['leaf impostor root', { warnings: 'chain_broken' }],
  ['leaf intermediate root otherRoot', { warnings: 'chain_broken' }],
  ['leaf intermediate root root', {}],
  ['leaf crossSigned otherRoot', {}],
  ['leaf otherRoot crossSigned', { warnings: 'chain_order' }],
  // Both ways to a root are more than one chain.
  ['leaf intermediate root crossSigned otherRoot', { warnings: 'chain_broken' }],
  ['leafOfShort shortIntermediate root', { warnings: 'chain_expires_first' }],
  ['leafOfWeak weakIntermediate root', { warnings: 'weak_key', signature: 'sha256WithRSAEncryption' }],
  ['leafOfSha1 sha1Intermediate root', { warnings: 'weak_signature' }],
  ['leafOfSha1Root sha1Root', {}],
  ['sha1', { warnings: 'weak_signature', signature: 'ecdsa-with-SHA1' }],
  ['selfSigned', { warnings: 'self_signed' }],
  ['selfSignedSha1', { warnings: 'weak_signature self_signed', signature: 'ecdsa-with-SHA1' }],
  ['selfSignedCa', { warnings: 'self_signed ca_as_leaf' }],
  ['intermediate', { warnings: 'ca_as_leaf' }],
  ['rsa1024', { key: 'rsa-1024', warnings: 'weak_key' }],
  ['rsa2048', { key: 'rsa-2048' }],
  ['rsa3072', { key: 'rsa-3072' }],
  ['rsa4096', { key: 'rsa-4096' }],
  ['p192', { key: 'ec-prime192v1', warnings: 'weak_key' }],
  ['p384', { key: 'ec-p384' }],
  ['p521', { key: 'ec-p521' }],
  ['ed25519', { key: 'ed25519' }],
  ['pss', { signature: 'rsassaPss' }],
  ['pssSha1', { signature: 'rsassaPss', warnings: 'weak_signature' }],
  ['ended', { status: 'expired' }],
  ['endsNow', { status: 'expired' }],
  ['endsIn30Days', { status: 'expiring' }],
  ['endsAfter30Days', {}],
  ['begins', { status: 'not_yet_valid' }],
]

const GOOD = { key: 'ec-p256', signature: 'ecdsa-with-SHA256', status: 'valid', warnings: '' } as const

for (const [names, verdict] of ZOO) {
  test(`the verdict on ${names} is that of the table, and that of openssl verify`, async () => {
    const bundle = names.split(' ').map(certificateOf)
    const { facts } = await readBundle(bundle.map(({ pem }) => pem).join(''))
    const { key, signature, warnings } = facts
    const status = certificateStatusOf({ ...facts, revokedAt: null, replacedBy: null }, NOW)
    assert.deepEqual({ key, signature, status, warnings: warnings.join(' ') }, { ...GOOD, ...verdict })
    await assertAsOpenssl(bundle, new Set<string>(warnings), status)
  })
}

/** `openssl verify` judges each link alone, the times of the first certificate, and keys and signatures of 112 bits. */
async function assertAsOpenssl(
  bundle: readonly IssuedCertificate[],
  warnings: ReadonlySet<string>,
  status: CertificateStatus,
): Promise<void> {
  const [first = assert.fail()] = bundle
  const links = await Promise.all(
    bundle
      .slice(1)
      .map((issuer, index) => verify(bundle[index] ?? assert.fail(), issuer, ['-no_check_time'])),
  )
  const isUnbroken = links.every((problem) => problem === '')
  assert.equal(!isUnbroken, warnings.has('chain_broken') || warnings.has('chain_order'), links.join())
  const isSelfSigned =
    (await verify(first, first, ['-no_check_time', '-check_ss_sig'])) === '' && warnings.has('self_signed')
  assert.equal(isSelfSigned, warnings.has('self_signed'))
  const problem = await verify(first, first, ['-attime', String(NOW / 1_000)])
  const time = /certificate has expired|certificate is not yet valid/.exec(problem)?.[0]
  assert.equal(
    time,
    { expired: 'certificate has expired', not_yet_valid: 'certificate is not yet valid' }[String(status)],
  )
  if (!isUnbroken || bundle.length === 1) return
  const strict = await verify(first, bundle.at(-1) ?? first, ['-no_check_time', '-auth_level', '2'], bundle)
  assert.equal(/too weak/.test(strict), warnings.has('weak_key') || warnings.has('weak_signature'), strict)
}

/** What `openssl verify` complains about; empty when it does not. */
async function verify(
  certificate: IssuedCertificate,
  trusted: IssuedCertificate,
  options: readonly string[],
  untrusted: readonly IssuedCertificate[] = [],
): Promise<string> {
  const others = untrusted.flatMap(({ path }) => ['-untrusted', path])
  const args = ['verify', '-partial_chain', ...options, '-trusted', trusted.path, ...others, certificate.path]
  return new Promise((resolve) => {
    execFile('openssl', args, (error, stdout, stderr) => resolve(error ? stdout + stderr : ''))
  })
}

test('the facts are the ones that openssl x509 prints', async () => {
  const leaf = certificateOf('leaf' satisfies Name)
  const { facts } = await readBundle(leaf.pem + certificateOf('intermediate').pem)
  const options = [
    '-noout',
    '-serial',
    '-fingerprint',
    '-sha256',
    '-subject',
    '-issuer',
    '-nameopt',
    'RFC2253',
  ]
  const printed = await openssl(['x509', '-in', leaf.path, ...options])
  const { serial, fingerprintSha256, subject, issuer } = facts
  const colons = fingerprintSha256.toUpperCase().match(/../g)?.join(':')
  assert.deepEqual(printed.trim().split('\n').toSorted(), [
    `issuer=${issuer}`,
    `serial=${serial}`,
    `sha256 Fingerprint=${colons}`,
    `subject=${subject}`,
  ])
  assert.deepEqual(
    [facts.names, facts.notBefore, facts.notAfter],
    [['shop.example.com', '*.example.com', '192.0.2.1', '2001:db8::1'], ISSUED_AT, ISSUED_AT + 365 * DAY],
  )
  assert.deepEqual(
    facts.chain.map((each) => [each.subject, each.issuer, each.notAfter]),
    [['CN=intermediate,O=Zoo', 'CN=root,O=Zoo', LONG]],
  )
  assert.deepEqual([facts.endsAt, facts.expiresFirst], [facts.notAfter, fingerprintSha256])
})

test('the first of the chain that ends is named', async () => {
  const { facts } = await readBundle(
    ['leafOfShort', 'shortIntermediate', 'root'].map((name) => certificateOf(name).pem).join(''),
  )
  assert.deepEqual(
    [facts.endsAt, facts.expiresFirst],
    [ISSUED_AT + 120 * DAY, facts.chain[0]?.fingerprintSha256],
  )
})

test('text, CRLF, indentation, the text form of openssl and an older label change nothing', async () => {
  const leaf = certificateOf('leaf')
  const root = certificateOf('root')
  const plain = await readBundle(leaf.pem + root.pem)
  const withText = join(authority.path, 'text.pem')
  writeFileSync(withText, await openssl(['x509', '-in', leaf.path, '-text']))
  const spellings = [
    `${leaf.pem}${root.pem}`.replaceAll('\n', '\r\n'),
    `\uFEFFBag Attributes\n  friendlyName: shop\n${leaf.pem}\nsubject=/CN=x\n# the private key is in the vault\n${root.pem}the end`,
    `${leaf.pem}${root.pem}`.replaceAll(/^/gm, '    '),
    (await openssl(['x509', '-in', leaf.path, '-text'])) +
      (await openssl(['x509', '-in', root.path, '-text'])),
    `${leaf.pem}${root.pem}`.replaceAll(' CERTIFICATE', ' X509 CERTIFICATE'),
    leaf.pem.replace('\n-----END', '-----END') + root.pem,
  ]
  for (const spelling of spellings) assert.deepEqual(await readBundle(spelling), plain)
  assert.equal(plain.pem, leaf.pem + root.pem, 'the text around is not stored')
})

const block = (text: string, label = 'CERTIFICATE') =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`

const INVALID: readonly (readonly [what: string, pem: (leaf: string) => string, message: RegExp])[] = [
  ['text without a block', () => 'no certificate', /no block that begins with -----BEGIN CERTIFICATE-----/],
  ['an empty block', () => block(''), /^Block 1 .* is not Base64/],
  ['a block that is not Base64', (leaf) => leaf + block('MII?'), /^Block 2 .* is not Base64/],
  [
    'a cut block',
    (leaf) => leaf.slice(0, leaf.length / 2),
    /^Block 1 .* has no line -----END CERTIFICATE-----/,
  ],
  [
    'a block of another kind',
    (leaf) => leaf + block('AAAA', 'DH PARAMETERS'),
    /^Block 2 .* is DH PARAMETERS/,
  ],
  [
    'a certificate request',
    (leaf) => leaf + block('AAAA', 'CERTIFICATE REQUEST'),
    /^Block 2 .* is CERTIFICATE REQUEST/,
  ],
  [
    'a block of an unknown kind',
    (leaf) => leaf + block('AAAA', '<script>'),
    /^Block 2 .* is of an unknown kind/,
  ],
  [
    'bytes that are no certificate',
    (leaf) => leaf + block('AAAA'),
    /^Block 2 .* is not an X.509 certificate/,
  ],
  [
    'a PEM inside of the Base64',
    (leaf) => block(Buffer.from(leaf).toString('base64')),
    /^Block 1 .* other data besides/,
  ],
  [
    'bytes behind the certificate',
    (leaf) => block(Buffer.concat([derOf(leaf), Buffer.from('more')]).toString('base64')),
    /^Block 1 .* other data besides/,
  ],
  [
    'half a certificate',
    (leaf) => block(derOf(leaf).subarray(0, 100).toString('base64')),
    /^Block 1 .* is not an X.509/,
  ],
  ['21 certificates', (leaf) => leaf.repeat(21), /has 21 blocks; at most 20/],
]

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\n/g, ''), 'base64')
}

for (const [what, pem, message] of INVALID) {
  test(`${what}: invalid_certificate, which names the block`, async () => {
    await assert.rejects(readBundle(pem(certificateOf('leaf').pem)), { code: 'invalid_certificate', message })
  })
}

test('a certificate that is there twice breaks the chain, because it does not sign itself', async () => {
  const { facts } = await readBundle(
    ['leaf', 'leaf', 'intermediate'].map((name) => certificateOf(name).pem).join(''),
  )
  assert.deepEqual(facts.warnings, ['chain_broken'])
})

test('20 certificates are the most', async () => {
  const { facts } = await readBundle(certificateOf('leaf').pem + certificateOf('root').pem.repeat(19))
  assert.equal(facts.chain.length, 19)
})

test('a certificate with too many names, too long a subject, or a name that is none is refused', async () => {
  const tooMany = Array.from({ length: 1_001 }, (_, index) => `DNS:n${index}.example.com`)
  const cases: readonly (readonly [WantedCertificate, RegExp])[] = [
    [{ names: tooMany }, /more than 1000 names/],
    [{ names: ['DNS:shop example.com'] }, /a name that is neither a DNS name nor an IP address/],
    [{ names: ['DNS:büro.example.com'] }, /a name that is neither a DNS name nor an IP address/],
  ]
  for (const [wanted, message] of cases)
    await assert.rejects(readBundle((await authority.issue(wanted)).pem), {
      code: 'invalid_certificate',
      message,
    })
  const { facts } = await readBundle((await authority.issue({ names: tooMany.slice(1) })).pem)
  assert.equal(facts.names.length, 1_000)
})

test('names of other kinds are left out, also when they look like several names', async () => {
  const names = [
    'email:ops@example.com',
    'URI:http://example.com/a,DNS:evil.example.com',
    'DNS:good.example.com',
  ]
  const quoted = names.map((name) => name.replaceAll(',', '%2C'))
  const { facts } = await readBundle((await authority.issue({ names: quoted })).pem)
  assert.deepEqual(facts.names, ['good.example.com'])
})

test('the subject is written as RFC 4514 has it', async () => {
  const subject = '/C=DE/O=Zoé, "Söhne" \\/ Co/CN=a\\+b'
  const { path, pem } = await authority.issue({ subject })
  const { facts } = await readBundle(pem)
  const printed = await openssl([
    'x509',
    '-in',
    path,
    '-noout',
    '-subject',
    '-nameopt',
    'RFC2253,-esc_msb,utf8',
  ])
  assert.equal(`subject=${facts.subject}`, printed.trim())
  const { facts: nameless } = await readBundle((await authority.issue({ subject: '/', names: NAMES })).pem)
  assert.equal(nameless.subject, '')
})

test('a certificate that its own key has signed is self-signed, also without the right to sign others', async () => {
  const wanted = { subject: '/O=Zoo/CN=own key', names: NAMES, keyUsage: 'digitalSignature' }
  const { facts } = await readBundle((await authority.issue(wanted)).pem)
  assert.deepEqual(facts.warnings, ['self_signed'])
})
