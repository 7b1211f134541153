import { createHash, X509Certificate, type KeyObject } from 'node:crypto'
import { isIP, SocketAddress } from 'node:net'
import { AppError, fieldFault, type ErrorValues, type FaultCode } from '../../kernel/errors.ts'
import type { CertificateFields } from './model.ts'

/** One certificate of a bundle. */
export interface ParsedCertificate extends CertificateFields {
  readonly x509: X509Certificate
  readonly publicKey: KeyObject
  /** The subject together with the key. */
  readonly holder: string
  readonly isKeyWeak: boolean
  readonly isSignatureWeak: boolean
}

// An event with the certificate and its chain must fit into a message of 1 MiB on the bus.
const MAX_SUBJECT = 4_096
const MAX_NAMES = 1_000

/** Reads the certificate of a block; throws `invalid_certificate`. */
export function parseCertificate(der: Buffer, block: number): ParsedCertificate {
  const x509 = readX509(der, block)
  const publicKey = readKey(x509, block)
  const key = describeKey(publicKey)
  const [subject, issuer] = [x509.subject, x509.issuer].map(toDistinguishedName) as [string, string]
  if (Math.max(subject.length, issuer.length) > MAX_SUBJECT)
    throw invalidBlock(block, `has a subject or an issuer of more than ${MAX_SUBJECT} characters`)
  return {
    x509,
    publicKey,
    holder: `${subject} ${sha256(publicKey.export({ type: 'spki', format: 'der' }))}`,
    fingerprintSha256: sha256(x509.raw),
    serial: x509.serialNumber,
    subject,
    issuer,
    names: readNames(x509.subjectAltName, block),
    ...readTimes(x509, block),
    key: key.name,
    isKeyWeak: key.isWeak,
    signature: x509.signatureAlgorithm ?? x509.signatureAlgorithmOid,
    isSignatureWeak: isSignatureWeak(x509),
    isCa: x509.ca,
  }
}

/**
 * Whether a certificate names that issuer, and the key of the issuer has signed it. Whether the issuer may sign is another
 * question: a certificate for a server may be signed with its own key without `keyCertSign`.
 */
export function isSignedBy({ x509, issuer: name }: ParsedCertificate, issuer: ParsedCertificate): boolean {
  try {
    return comparableName(name) === comparableName(issuer.subject) && x509.verify(issuer.publicKey)
  } catch {
    // The key cannot verify any signature, or not one of this algorithm.
    return false
  }
}

/** RFC 5280, section 7.1: without regard to case and to the number of spaces. */
function comparableName(distinguishedName: string): string {
  return distinguishedName.toLowerCase().replaceAll(/\s+/g, ' ')
}

function readX509(der: Buffer, block: number): X509Certificate {
  const x509 = parseX509(der)
  if (!x509) throw invalidBlock(block, 'is not an X.509 certificate')
  if (!x509.raw.equals(der)) throw invalidBlock(block, 'has other data besides one X.509 certificate')
  return x509
}

function parseX509(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der)
  } catch {
    return undefined
  }
}

function readKey(x509: X509Certificate, block: number): KeyObject {
  try {
    return x509.publicKey
  } catch {
    throw invalidBlock(block, 'has a public key of an unknown kind')
  }
}

function readTimes({ validFromDate, validToDate }: X509Certificate, block: number) {
  const [notBefore, notAfter] = [validFromDate.getTime(), validToDate.getTime()] as const
  if (Number.isNaN(notBefore) || Number.isNaN(notAfter))
    throw invalidBlock(block, 'has a time of validity that is not a time')
  return { notBefore, notAfter }
}

/** The text of Node.js has one attribute in each line, in the order of the certificate; RFC 4514 reverses it. */
function toDistinguishedName(text: string | undefined): string {
  const attributes = (text ?? '').split('\n').filter(Boolean)
  return attributes
    .map((attribute) => attribute.replaceAll(' + ', '+'))
    .toReversed()
    .join(',')
    .toWellFormed()
}

// Node.js quotes a value that could be taken for another entry.
const ALTERNATIVE_NAME =
  /(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)|[^,":]+:("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy
const DNS_NAME = /^[\x21-\x7e]{1,255}$/

/** The DNS names in lower case, and the IP addresses. */
function readNames(text: string | undefined, block: number): string[] {
  const entries = [...(text ?? '').matchAll(ALTERNATIVE_NAME)]
  const names = entries.flatMap(([, type, value = '']) => {
    if (type === undefined) return []
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value
    return [type === 'DNS' ? name.toLowerCase() : toAddress(name)]
  })
  if (names.some((name) => !DNS_NAME.test(name)))
    throw invalidBlock(block, 'has a name that is neither a DNS name nor an IP address')
  if (names.length > MAX_NAMES) throw invalidBlock(block, `has more than ${MAX_NAMES} names`)
  return [...new Set(names)]
}

/** The address in its canonical form (RFC 5952); empty if the text is not an address. */
function toAddress(text: string): string {
  const version = isIP(text)
  if (version === 0) return ''
  return new SocketAddress({ address: text, family: version === 4 ? 'ipv4' : 'ipv6' }).address
}

interface KeyDescription {
  readonly name: string
  readonly isWeak: boolean
}

// NIST SP 800-57 part 1, section 5.6: 112 bits of security.
const MIN_MODULUS_BITS = 2_048
const MIN_CURVE_BITS = 224

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'p256',
  secp384r1: 'p384',
  secp521r1: 'p521',
}

function describeKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyDescription {
  const { modulusLength, namedCurve } = asymmetricKeyDetails ?? {}
  const type = asymmetricKeyType ?? 'unknown'
  if (modulusLength !== undefined)
    return { name: `${type}-${modulusLength}`, isWeak: modulusLength < MIN_MODULUS_BITS }
  if (type !== 'ec') return { name: type, isWeak: false }
  const curve = CURVES[namedCurve ?? ''] ?? namedCurve?.toLowerCase() ?? 'unnamed'
  return { name: `ec-${curve}`, isWeak: Number(/\d{3}/.exec(curve)?.[0] ?? 0) < MIN_CURVE_BITS }
}

const WEAK_DIGEST = /md\d|ripemd|sha1(?!\d)|sha(?=with|$)/i
const RSA_PSS = '1.2.840.113549.1.1.10'

function isSignatureWeak({ signatureAlgorithm = '', signatureAlgorithmOid, raw }: X509Certificate): boolean {
  return signatureAlgorithmOid === RSA_PSS ? isPssWeak(raw) : WEAK_DIGEST.test(signatureAlgorithm)
}

const SHA1_OID = Buffer.from('2b0e03021a', 'hex')

/** RSASSA-PSS names its digest in the parameters only (RFC 4055, section 3.1); without one it is SHA-1. */
function isPssWeak(der: Buffer): boolean {
  const [, algorithm] = childrenOf(readElement(der)?.content)
  const [, parameters] = childrenOf(algorithm?.content)
  const digest = childrenOf(parameters?.content).find(({ tag }) => tag === TAG.first)
  const [oid] = childrenOf(childrenOf(digest?.content)[0]?.content)
  return !oid || oid.content.equals(SHA1_OID)
}

function childrenOf(content: Buffer | undefined) {
  return content ? readElements(content) : []
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** One element of DER (ITU-T X.690, section 8.1). */
interface DerElement {
  readonly tag: number
  /** Shorter than its length says when the bytes are cut. */
  readonly content: Buffer
  /** The position behind it. */
  readonly end: number
}

export const TAG = { integer: 0x02, octets: 0x04, oid: 0x06, sequence: 0x30, first: 0xa0 } as const

const INDEFINITE = 0x80

/** The element at a position; undefined when there is none. */
export function readElement(bytes: Buffer, at = 0): DerElement | undefined {
  const [tag, length] = bytes.subarray(at)
  if (tag === undefined || length === undefined) return undefined
  const begin = at + 2
  if (length < INDEFINITE) return elementAt(bytes, tag, begin, length)
  // BER, which some files with keys have; the content lasts to the end.
  if (length === INDEFINITE) return elementAt(bytes, tag, begin, bytes.length - begin)
  const count = length - INDEFINITE
  if (count > 4 || begin + count > bytes.length) return undefined
  return elementAt(bytes, tag, begin + count, bytes.readUIntBE(begin, count))
}

/** The elements that follow one another in the content of a sequence. */
function readElements(content: Buffer): DerElement[] {
  const elements: DerElement[] = []
  let element = readElement(content)
  while (element) {
    elements.push(element)
    element = readElement(content, element.end)
  }
  return elements
}

function elementAt(bytes: Buffer, tag: number, begin: number, length: number): DerElement {
  return { tag, content: bytes.subarray(begin, begin + length), end: begin + length }
}

/** docs/specification.md, Certificates */
const MAX_CERTIFICATES = 20

const BEGIN = /-----BEGIN ([^\r\n-]*)-----/
const LABELS = ['CERTIFICATE', 'X509 CERTIFICATE']
const KNOWN_LABEL = /^[A-Z0-9][A-Z0-9 ]{0,39}$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The contents of the certificate blocks of a text in PEM (RFC 7468), in their order. Text between the blocks is ignored.
 * Throws `invalid_certificate`, which names the block.
 */
export function readPem(text: string): Buffer[] {
  const [, ...parts] = text.split(BEGIN)
  const blocks = parts.flatMap((label, index) =>
    index % 2 === 0 ? [{ label, rest: parts[index + 1] ?? '' }] : [],
  )
  if (blocks.length === 0) throw invalidCertificate('pem_without_block')
  if (blocks.length > MAX_CERTIFICATES)
    throw invalidCertificate('pem_with_many_blocks', { blocks: blocks.length, maximum: MAX_CERTIFICATES })
  return blocks.map(({ label, rest }, index) => readBlock(index + 1, label, rest))
}

/** The certificates as PEM, without any text around them. */
export function writePem(certificates: readonly Buffer[]): string {
  return certificates.map(writeBlock).join('')
}

function invalidCertificate(code: FaultCode, values?: ErrorValues): AppError {
  const detail = fieldFault('pem', code, values)
  return new AppError('invalid', 'invalid_certificate', detail.message, { details: [detail] })
}

/** The error for one block of the bundle; blocks are counted from 1. */
function invalidBlock(number: number, reason: string): AppError {
  return invalidCertificate('pem_block', { block: number, reason })
}

function readBlock(number: number, label: string, rest: string): Buffer {
  if (!LABELS.includes(label)) {
    const kind = KNOWN_LABEL.test(label) ? label : 'of an unknown kind'
    throw invalidBlock(number, `is ${kind}; only blocks with the label CERTIFICATE are allowed`)
  }
  const end = rest.indexOf(`-----END ${label}-----`)
  if (end < 0) throw invalidBlock(number, `has no line -----END ${label}-----`)
  const encoded = rest.slice(0, end).replaceAll(/\s+/g, '')
  if (!BASE64.test(encoded) || encoded.length % 4 !== 0)
    throw invalidBlock(number, 'is not Base64 between its BEGIN and END lines')
  return Buffer.from(encoded, 'base64')
}

function writeBlock(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
