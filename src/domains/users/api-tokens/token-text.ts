import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What an API token begins with, so that people and scanners for secrets know it. */
export const TOKEN_PREFIX = 'pat_'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 34
/** The length of the checksum, which ends a token. */
export const CHECKSUM_CHARACTERS = 6
const FORM = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`)

/** A new token: `pat_`, 34 random characters (202 bits) and the checksum of both. */
export function newTokenText(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)])
  return withChecksum(TOKEN_PREFIX + random.join(''))
}

/** A text that is a token but for its checksum. */
export function withChecksum(text: string): string {
  return text + checksumOf(text)
}

/** Whether a text has the form and the checksum of a token. Most texts that are none are refused without a look-up. */
export function isTokenText(text: string): boolean {
  return (
    FORM.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS)
  )
}

/** What is stored of a token. It is random enough for a hash without salt and repetition. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** CRC-32 in base 62, with leading zeros. */
function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_CHARACTERS) {
    digits = `${ALPHABET[rest % ALPHABET.length]}${digits}`
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}
