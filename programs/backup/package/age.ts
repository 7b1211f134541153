import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Decrypter, Encrypter } from 'age-encryption'
import { ByteReader } from './byte-reader.ts'

// https://age-encryption.org/v1, payload
const CHUNK_BYTES = 64 * 1_024
const TAG_BYTES = 16
const NONCE_BYTES = 16
const CIPHER = 'chacha20-poly1305'
// A header of hundreds of recipients is less.
const MAX_HEADER_BYTES = 1_024 ** 2
const MAC_LINE = /^---(?: [^\n]*)?\n/m

/** The first line of a sealed file. */
export const AGE_MAGIC = 'age-encryption.org/v1\n'

/**
 * Seals a stream in the age format. The library makes the header; the payload is encrypted here, because the library does
 * that in JavaScript, at a tenth of the speed of node:crypto.
 */
export async function* seal(
  chunks: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncIterable<Uint8Array> {
  const { header, fileKey } = await newHeader(recipients)
  const nonce = randomBytes(NONCE_BYTES)
  yield header
  yield nonce
  const chunkCipher = new ChunkCipher(payloadKey(fileKey, nonce))
  const reader = new ByteReader(chunks)
  try {
    let chunk = await reader.readUpTo(CHUNK_BYTES)
    // Only an empty file may have an empty last chunk.
    for (let isLast = false; !isLast;) {
      isLast = await reader.isAtEnd()
      yield chunkCipher.encrypt(chunk, isLast)
      if (!isLast) chunk = await reader.readUpTo(CHUNK_BYTES)
    }
  } finally {
    await reader.close()
  }
}

/** Opens a sealed stream. Throws an error when no identity fits, or when a bit has changed. */
export async function* unseal(
  chunks: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncIterable<Uint8Array> {
  const reader = new ByteReader(chunks)
  try {
    const fileKey = await readFileKey(reader, identities)
    const chunkCipher = new ChunkCipher(payloadKey(fileKey, await reader.read(NONCE_BYTES)))
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      const chunk = await reader.readUpTo(CHUNK_BYTES + TAG_BYTES)
      isLast = await reader.isAtEnd()
      const content = chunkCipher.decrypt(chunk, isLast)
      if (content.length === 0 && !isFirst) throw new Error('its last chunk is empty')
      yield content
    }
  } finally {
    await reader.close()
  }
}

async function newHeader(
  recipients: readonly string[],
): Promise<{ header: Uint8Array; fileKey: Uint8Array }> {
  const encrypter = new Encrypter()
  let fileKey: Uint8Array | undefined
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  encrypter.addRecipient({
    wrapFileKey(key) {
      fileKey = Uint8Array.from(key)
      return []
    },
  })
  const empty = Buffer.from(await encrypter.encrypt(new Uint8Array()))
  if (!fileKey) throw new Error('age has made no key')
  return { header: empty.subarray(0, headerLength(empty) ?? 0), fileKey }
}

/** The header ends with the line of its MAC. */
function headerLength(bytes: Buffer): number | undefined {
  const match = MAC_LINE.exec(bytes.toString('latin1'))
  return match ? match.index + match[0].length : undefined
}

async function readFileKey(reader: ByteReader, identities: readonly string[]): Promise<Uint8Array> {
  const lines: Buffer[] = []
  let length = 0
  while (lines.at(-1)?.toString('latin1').startsWith('---') !== true) {
    const line = await readLine(reader)
    length += line.length
    if (length > MAX_HEADER_BYTES) throw new Error('its age header is too long')
    lines.push(line)
  }
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  return decrypter.decryptHeader(Buffer.concat(lines))
}

// age: a line of a header has at most 64 columns of Base64; arguments are short
const MAX_LINE_BYTES = 10_000
const NEWLINE = 0x0a

async function readLine(reader: ByteReader): Promise<Buffer> {
  const bytes: number[] = []
  while (bytes.at(-1) !== NEWLINE) {
    if (bytes.length > MAX_LINE_BYTES) throw new Error('its age header is malformed')
    bytes.push((await reader.read(1)).readUInt8())
  }
  return Buffer.from(bytes)
}

function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32))
}

/** The chunks of a payload: the nonce counts them, and its last byte marks the last one. */
class ChunkCipher {
  readonly #key: Uint8Array
  readonly #nonce = Buffer.alloc(12)
  #count = 0

  constructor(key: Uint8Array) {
    this.#key = key
  }

  encrypt(chunk: Uint8Array, isLast: boolean): Buffer {
    const cipher = createCipheriv(CIPHER, this.#key, this.#nextNonce(isLast), { authTagLength: TAG_BYTES })
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }

  decrypt(chunk: Buffer, isLast: boolean): Buffer {
    if (chunk.length < TAG_BYTES) throw new Error('it ends in the middle')
    const cipher = createDecipheriv(CIPHER, this.#key, this.#nextNonce(isLast), { authTagLength: TAG_BYTES })
    cipher.setAuthTag(chunk.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(chunk.subarray(0, -TAG_BYTES)), cipher.final()])
  }

  #nextNonce(isLast: boolean): Uint8Array {
    // 2^48 chunks are more than any file has.
    this.#nonce.writeUIntBE(this.#count++, 5, 6)
    this.#nonce.writeUInt8(isLast ? 1 : 0, 11)
    return this.#nonce
  }
}
