import { AppError, fieldFault } from '../../kernel/errors.ts'
import { readElement, TAG } from './x509.ts'

/** Texts that only private keys have, in the formats of common programs. */
const MARKS: readonly RegExp[] = [
  // The lines around a key: PEM, OpenSSH, SSH2 and PGP, in any case, also with the spaces encoded for a URL.
  /(?:BEGIN|END)[\w\s%+]{0,60}?PRIVATE[\s\d%_+-]{0,8}KEY/i,
  // The text form of OpenSSL.
  /\bPrivate-Key:|\bprivateExponent\b|^[ \t]*priv:[ \t]*\r?$/im,
  // PuTTY and age.
  /PuTTY-User-Key-File|\bPrivate-Lines:|AGE-SECRET-KEY-/i,
  // JWK (RFC 7517) and XML Signature keys.
  /\\?"d\\?"\s*:\s*\\?"[\w-]{16,}/,
  /<(?:\w+:)?(?:InverseQ|PrivateKey)>/i,
]

// The first bytes of a key are in its first line, which has 64 characters in PEM; more than enough to recognize it.
const ENCODED = /[\w+/-]{16,}={0,2}/g
const PREFIX_CHARACTERS = 400

/**
 * Whether a text contains a private key, or a part of one: as text, in PEM with any label or without one, encrypted or
 * not, or encoded once more in Base64.
 */
export function hasPrivateKey(text: string): boolean {
  if (hasMark(text)) return true
  const lines = text.replaceAll(/\\[nrt]/g, '\n')
  const blocks = lines.split(/-{2,}[^-\n]*-{2,}/).map((block) => block.replaceAll(/\s+/g, ''))
  const encoded = lines.matchAll(ENCODED).map(([run]) => run)
  return blocks.some(isEncodedKey) || encoded.some(isEncodedKey)
}

/** Throws `private_key_refused`. The message quotes nothing of the text. */
export function refusePrivateKeys(texts: Readonly<Record<string, string | undefined>>): void {
  const path = Object.keys(texts).find((field) => hasPrivateKey(texts[field] ?? ''))
  if (path === undefined) return
  throw new AppError(
    'invalid',
    'private_key_refused',
    `${path} contains a private key; nothing of it was stored. Send certificates only, and consider whether the key ` +
      'must be replaced.',
    { details: [fieldFault(path, 'private_key')] },
  )
}

function hasMark(text: string): boolean {
  return MARKS.some((mark) => mark.test(text))
}

function isEncodedKey(encoded: string): boolean {
  const bytes = Buffer.from(encoded.slice(0, PREFIX_CHARACTERS), 'base64')
  return isPrivateKey(bytes) || hasMark(bytes.toString('latin1')) || isOpenSshKey(bytes)
}

// Encrypted keys (RFC 5958): the algorithms of PKCS #5 and PKCS #12.
const ENCRYPTIONS = ['2a864886f70d0105', '2a864886f70d010c'].map((hex) => Buffer.from(hex, 'hex'))

/** What follows the version of each kind of key, by its tag (RFC 8017, 5958, 5915, 7292); DSA is as RSA. */
const KEY_VERSIONS: readonly (readonly [version: number, next: number])[] = [
  [0, TAG.integer],
  [0, TAG.sequence],
  [1, TAG.sequence],
  [1, TAG.octets],
  [3, TAG.sequence],
]

/** Whether DER begins as a private key, or as a PKCS #12 file, which may contain one. */
function isPrivateKey(der: Buffer): boolean {
  const outer = readElement(der)
  if (outer?.tag !== TAG.sequence) return false
  const head = readElement(outer.content)
  if (head?.tag === TAG.sequence) return isEncryption(head.content)
  const isVersion = head?.tag === TAG.integer && head.content.length === 1
  const next = outer.content[head?.end ?? 0]
  return isVersion && KEY_VERSIONS.some(([version, tag]) => version === head.content[0] && tag === next)
}

function isEncryption(algorithm: Buffer): boolean {
  const oid = readElement(algorithm)
  if (oid?.tag !== TAG.oid) return false
  return ENCRYPTIONS.some((prefix) => oid.content.subarray(0, prefix.length).equals(prefix))
}

function isOpenSshKey(bytes: Buffer): boolean {
  return bytes.subarray(0, 14).toString('latin1') === 'openssh-key-v1'
}
