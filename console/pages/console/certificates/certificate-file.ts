import type { FileContent } from '../../../parts/form/field-input.tsx'
import { certificateWords } from './words.ts'

// The tags of DER (ITU-T X.690).
const SEQUENCE = 0x30
const INTEGER = 0x02
const VERSION = 0xa0
const LONG_LENGTH = 0x80
const PEM_LINE = /.{1,64}/g
const PEM_CERTIFICATE = '-----BEGIN CERTIFICATE-----'

/** A private key does not leave the browser. */
const PRIVATE_KEY = /PRIVATE\s+KEY/i

export function hasPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text)
}

/** The certificate in a file, as PEM (RFC 7468). No other file gets into the form: it may be a private key. */
export async function readCertificateFile(file: Blob): Promise<FileContent> {
  const { fileEmpty, keyInFile, notACertificate } = certificateWords()
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (isCertificate(bytes)) return { text: pemOf(bytes) }
  const text = new TextDecoder().decode(bytes)
  if (text.trim() === '') return { fault: fileEmpty }
  if (hasPrivateKey(text)) return { fault: keyInFile }
  return text.includes(PEM_CERTIFICATE) ? { text } : { fault: notACertificate }
}

/**
 * Whether these bytes begin like a certificate: a sequence (RFC 5280, 4.1) of a sequence that begins with its version or
 * its serial number. A key does not, encrypted or not, so none is taken for a certificate.
 */
function isCertificate(bytes: Uint8Array): boolean {
  const outer = contentOf(bytes, 0)
  const fields = outer === undefined ? undefined : contentOf(bytes, outer)
  const first = fields === undefined ? undefined : bytes[fields]
  return first === VERSION || first === INTEGER
}

/** Where the content of the sequence at this place begins; undefined if there is none. */
function contentOf(bytes: Uint8Array, at: number): number | undefined {
  const length = bytes[at + 1]
  if (bytes[at] !== SEQUENCE || length === undefined) return undefined
  return at + 2 + (length > LONG_LENGTH ? length - LONG_LENGTH : 0)
}

function pemOf(bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(PEM_LINE) ?? []
  return [PEM_CERTIFICATE, ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
