// The tags of DER (ITU-T X.690).
const SEQUENCE = 0x30
const INTEGER = 0x02
const VERSION = 0xa0
const LONG_LENGTH = 0x80
const PEM_LINE = /.{1,64}/g

/** The text of a file with a certificate. One in DER, which is binary, becomes PEM (RFC 7468). */
export async function readCertificateFile(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return isCertificate(bytes) ? pemOf(bytes) : new TextDecoder().decode(bytes)
}

/**
 * Whether these bytes begin like a certificate: a sequence (RFC 5280, 4.1) of a sequence that begins with its version or
 * its serial number. A key does not, encrypted or not, so none is taken for a certificate.
 */
function isCertificate(bytes: Uint8Array): boolean {
  const signed = contentOf(bytes, 0)
  const fields = signed === undefined ? undefined : contentOf(bytes, signed)
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
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
