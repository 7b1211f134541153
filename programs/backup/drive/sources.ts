import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { BackupError } from '../errors.ts'
import type { UploadSource } from './port.ts'

const READ_BYTES = 256 * 1_024

/** A file whose size and SHA-1 are known. A file that cannot be read, or that is shorter, is `upload_failed`. */
export function fileSource(path: string, { size, sha1 }: Pick<UploadSource, 'size' | 'sha1'>): UploadSource {
  return { size, sha1: sha1.toUpperCase(), read: (start, end) => readFileRange(path, start, end) }
}

async function* readFileRange(path: string, start: number, end: number): AsyncIterable<Uint8Array> {
  if (end <= start) return
  let missing = end - start
  try {
    for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: READ_BYTES })) {
      missing -= (chunk as Buffer).length
      yield chunk as Buffer
    }
  } catch (error) {
    throw new BackupError('upload_failed', `${path} could not be read: ${errorMessage(error)}`, {
      cause: error,
    })
  }
  if (missing > 0)
    throw new BackupError(
      'upload_failed',
      `${path} is ${missing} bytes shorter than it was when it was packed`,
    )
}

/** A text or bytes in memory. */
export function bytesSource(content: string | Uint8Array): UploadSource {
  const bytes = Buffer.from(content)
  return {
    size: bytes.length,
    sha1: hash('sha1', bytes).toUpperCase(),
    async *read(start, end) {
      if (end > start) yield bytes.subarray(start, end)
    },
  }
}

const PROOF_BYTES = 8

/**
 * Proves to the drive that this client has the content: up to 8 bytes, in Base64, at a position that the first 16 digits
 * of the access token's MD5 determine. It is valid with this token only.
 */
export async function proofCode(accessToken: string, source: UploadSource): Promise<string> {
  if (source.size === 0) return ''
  const start = Number(BigInt(`0x${hash('md5', accessToken).slice(0, 16)}`) % BigInt(source.size))
  const end = Math.min(start + PROOF_BYTES, source.size)
  const chunks: Uint8Array[] = []
  for await (const chunk of source.read(start, end)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('base64')
}
