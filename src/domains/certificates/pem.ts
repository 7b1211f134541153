import { AppError } from '../../kernel/errors.ts'
import { fieldFault, type ErrorValues, type FaultCode } from '../../kernel/faults.ts'

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

/** For one block; the first one has the number 1. */
export function invalidBlock(number: number, reason: string): AppError {
  return invalidCertificate('pem_block', { block: number, reason })
}

function readBlock(number: number, label: string, rest: string): Buffer {
  if (!LABELS.includes(label)) {
    const shown = KNOWN_LABEL.test(label) ? label : 'of an unknown kind'
    throw invalidBlock(number, `is ${shown}; only blocks with the label CERTIFICATE are allowed`)
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
