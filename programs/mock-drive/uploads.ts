import { createHash, randomUUID, type Hash } from 'node:crypto'
import { Refusal } from '../mock-server/answers.ts'
import { apiError } from './answers.ts'
import type { Blobs } from './blobs.ts'
import type { NameMode, StoredPart } from './entries.ts'
import { randomId } from '../mock-server/random-text.ts'

/** A file that is being uploaded. It is in no list until it is complete. */
export interface Upload {
  readonly uploadId: string
  readonly fileId: string
  readonly driveId: string
  readonly parentId: string
  readonly name: string
  readonly nameMode: NameMode
  /** The size that `create` named. */
  readonly size: number | undefined
  /** The SHA-1 that `create` named. */
  readonly sha1: string | undefined
  /** The number of parts that `create` named. */
  readonly partCount: number
  readonly parts: StoredPart[]
}

export type PartResult = StoredPart | 'no_upload' | 'exists' | 'not_sequential'

export interface ContentHashes {
  readonly sha1: string
  readonly preHash: string
}

// Unfinished uploads are kept for days; the oldest are forgotten first.
const MAX_UPLOADS = 1_000
const PRE_HASH_BYTES = 1_024

/** The uploads that are not complete. Parts come in order, one at a time. */
export class Uploads {
  readonly #blobs: Blobs
  readonly #uploads = new Map<string, Upload>()
  readonly #rapid = new Map<string, string>()
  // Hashes of the parts that are stored, so that `complete` reads no content again. Empty after a restart.
  readonly #hashes = new Map<string, { readonly parts: number; readonly hash: Hash }>()

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  all(): Upload[] {
    return [...this.#uploads.values()]
  }

  restore(uploads: readonly Upload[]): void {
    for (const upload of uploads) this.#uploads.set(upload.uploadId, upload)
  }

  create(upload: Omit<Upload, 'uploadId' | 'fileId' | 'parts'>): Upload {
    const created = { ...upload, uploadId: randomId(), fileId: randomId(), parts: [] }
    this.#uploads.set(created.uploadId, created)
    const [oldest] = this.#uploads.values()
    if (oldest && this.#uploads.size > MAX_UPLOADS) this.remove(oldest, { withContent: true })
    return created
  }

  /** A file that was stored without an upload may be completed, too. Returns the id for `complete`. */
  rememberRapid(fileId: string): string {
    const uploadId = randomId()
    this.#rapid.set(uploadId, fileId)
    const [oldest] = this.#rapid.keys()
    if (oldest !== undefined && this.#rapid.size > MAX_UPLOADS) this.#rapid.delete(oldest)
    return uploadId
  }

  isRapid(uploadId: string, fileId: string): boolean {
    return this.#rapid.get(uploadId) === fileId
  }

  /** The upload of that file, or a refusal with 400. */
  require(uploadId: string, fileId: string): Upload {
    const upload = this.#uploads.get(uploadId)
    if (upload?.fileId === fileId) return upload
    throw new Refusal(apiError(400, 'NotFound.UploadId', 'There is no such upload; it may be complete.'))
  }

  remove({ uploadId, parts }: Upload, { withContent }: { readonly withContent: boolean }): void {
    this.#uploads.delete(uploadId)
    this.#hashes.delete(uploadId)
    if (withContent) for (const { blob } of parts) this.#blobs.remove(blob)
  }

  /** Why the part cannot be stored now. */
  obstacle(uploadId: string, number: number): Exclude<PartResult, StoredPart> | undefined {
    const upload = this.#uploads.get(uploadId)
    if (!upload) return 'no_upload'
    if (number <= upload.parts.length) return 'exists'
    return number > upload.parts.length + 1 ? 'not_sequential' : undefined
  }

  /** Stores a part. It is checked again after its last byte: another request may have been faster. */
  async store(uploadId: string, number: number, source: AsyncIterable<Uint8Array>): Promise<PartResult> {
    const blob = randomUUID()
    const digests = { md5: createHash('md5'), sha1: this.#hashOf(uploadId, number - 1)?.copy(), size: 0 }
    await this.#blobs.write(blob, withDigests(source, digests))
    const obstacle = this.obstacle(uploadId, number)
    if (obstacle) {
      this.#blobs.remove(blob)
      return obstacle
    }
    const part = { blob, size: digests.size, etag: digests.md5.digest('hex').toUpperCase() }
    this.#uploads.get(uploadId)?.parts.push(part)
    if (digests.sha1) this.#hashes.set(uploadId, { parts: number, hash: digests.sha1 })
    return part
  }

  /** The bytes of all unfinished uploads. */
  usedBytes(): number {
    return this.all().reduce((sum, { parts }) => sum + sizeOf(parts), 0)
  }

  async contentHashes({ uploadId, parts }: Upload): Promise<ContentHashes> {
    const known = this.#hashOf(uploadId, parts.length)
    const sha1 = known ? known.copy() : createHash('sha1')
    if (!known) for await (const chunk of this.#content(parts)) sha1.update(chunk)
    return { sha1: digestOf(sha1), preHash: await this.#preHash(parts) }
  }

  async #preHash(parts: readonly StoredPart[]): Promise<string> {
    const hash = createHash('sha1')
    let missing = PRE_HASH_BYTES
    for await (const chunk of this.#content(parts)) {
      hash.update(chunk.subarray(0, missing))
      missing -= chunk.length
      if (missing <= 0) break
    }
    return digestOf(hash)
  }

  async *#content(parts: readonly StoredPart[]): AsyncIterable<Uint8Array> {
    for (const { blob, size } of parts) yield* this.#blobs.read(blob, 0, size)
  }

  #hashOf(uploadId: string, parts: number): Hash | undefined {
    if (parts === 0) return createHash('sha1')
    const known = this.#hashes.get(uploadId)
    return known?.parts === parts ? known.hash : undefined
  }
}

export function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

function digestOf(hash: Hash): string {
  return hash.digest('hex').toUpperCase()
}

interface Digests {
  readonly md5: Hash
  readonly sha1: Hash | undefined
  size: number
}

async function* withDigests(source: AsyncIterable<Uint8Array>, digests: Digests): AsyncIterable<Uint8Array> {
  for await (const chunk of source) {
    digests.md5.update(chunk)
    digests.sha1?.update(chunk)
    digests.size += chunk.length
    yield chunk
  }
}
