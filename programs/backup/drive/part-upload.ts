import { BackupError } from '../errors.ts'
import {
  CONFLICT,
  DriveRefusal,
  isTemporary,
  retryAfterMs,
  orTemporaryFailure,
  type DriveApi,
} from './api.ts'
import type { HttpAnswer } from './http.ts'
import { objectsIn, type JsonMembers } from './json-members.ts'
import { pagesOf } from './paging.ts'
import type { UploadOptions, UploadSource, UploadState } from './port.ts'
import type { RateLimit } from './rate-limit.ts'
import { CALL_TIMEOUT_MS, TemporaryFailure, withRetries } from './retry.ts'

/** The drive has forgotten the upload, so that it begins again. */
export class UploadGone extends Error {
  override readonly name = 'UploadGone'
}

/** The URLs of parts by their numbers. Empty for a drive that takes parts through `openFile/uploadPart`. */
export type PartUrls = Map<number, string>

export interface PartUploadDeps {
  readonly api: DriveApi
  readonly source: UploadSource
  readonly state: UploadState
  readonly urls: PartUrls
  readonly rateLimit: RateLimit | undefined
  readonly onProgress: UploadOptions['onProgress']
}

type PartOutcome = 'stored' | 'expired_url' | 'not_sequential'

const URLS_AT_ONCE = 100
// Corrections without progress in between
const MAX_CORRECTIONS = 5

/** Sends the parts of one upload in order, from the first that the drive does not have. */
export class PartUpload {
  readonly #deps: PartUploadDeps
  readonly #partCount: number
  #rejectedUrls = 0
  #recounts = 0
  /** The parts that the drive has listed. */
  #listed = 0

  constructor(deps: PartUploadDeps) {
    this.#deps = deps
    this.#partCount = partCountOf(deps.state)
  }

  /** The record of the complete file. Throws {@link UploadGone}. */
  async run({ isResumed }: { readonly isResumed: boolean }): Promise<JsonMembers> {
    let stored = isResumed ? await this.#storedParts() : 0
    for (;;) {
      stored = await this.#sendFrom(stored)
      const record = await this.#complete()
      if (record) return record
      stored = await this.#recount()
    }
  }

  async #sendFrom(stored: number): Promise<number> {
    let count = stored
    while (count < this.#partCount) {
      const outcome = await this.#sendPart(count + 1)
      if (outcome === 'stored') {
        this.#rejectedUrls = 0
        count++
        this.#deps.onProgress?.(this.#range(count).end)
      } else if (outcome === 'not_sequential') count = await this.#recount()
      else this.#forgetUrls()
    }
    return count
  }

  #forgetUrls(): void {
    this.#deps.urls.clear()
    if (++this.#rejectedUrls > MAX_CORRECTIONS)
      throw new BackupError('upload_failed', 'upload: the drive rejects the new URLs of a part, too')
  }

  /** A part is missing that the drive has confirmed. */
  async #recount(): Promise<number> {
    const stored = await this.#storedParts()
    this.#recounts = stored > this.#listed ? 0 : this.#recounts + 1
    this.#listed = stored
    if (this.#recounts <= MAX_CORRECTIONS) return stored
    throw new BackupError('upload_failed', 'upload: the drive loses a part again and again')
  }

  async #sendPart(number: number): Promise<PartOutcome> {
    if (!this.#deps.state.hasUrls) return this.#postPart(number)
    if (!this.#deps.urls.has(number)) await this.#renewUrls(number)
    const url = this.#deps.urls.get(number)
    if (url === undefined)
      throw new BackupError('upload_failed', 'getUploadUrl: the drive has given no URL for a part')
    return withRetries(this.#deps.api.retry, async ({ moved }) => {
      const answer = await orTemporaryFailure('upload', () =>
        this.#deps.api.send({
          method: 'PUT',
          url,
          // There is no content type, because the signature of the URL does not cover one.
          body: this.#body(number),
          idleMs: CALL_TIMEOUT_MS,
          onMove: moved,
        }),
      )
      return judgePut(answer)
    })
  }

  async #postPart(number: number): Promise<PartOutcome> {
    const { fileId, uploadId } = this.#deps.state
    const { driveId } = this.#deps.api.session
    const query = { drive_id: driveId, file_id: fileId, upload_id: uploadId, part_number: number }
    try {
      await this.#deps.api.postPart(query, this.#body(number))
      return 'stored'
    } catch (error) {
      if (!(error instanceof DriveRefusal)) throw error
      if (error.code === 'PartNotSequential') return 'not_sequential'
      if (error.status === CONFLICT) return 'stored'
      if (error.isMissing) throw new UploadGone(undefined, { cause: error })
      throw error
    }
  }

  #range(number: number): { readonly start: number; readonly end: number } {
    const { partSize, size } = this.#deps.state
    return { start: (number - 1) * partSize, end: Math.min(number * partSize, size) }
  }

  #body(number: number) {
    const { source, rateLimit } = this.#deps
    const { start, end } = this.#range(number)
    const chunks = () => source.read(start, end)
    return { size: end - start, chunks: () => (rateLimit ? rateLimit.apply(chunks()) : chunks()) }
  }

  async #renewUrls(from: number): Promise<void> {
    const count = Math.min(URLS_AT_ONCE, this.#partCount - from + 1)
    const numbers = Array.from({ length: count }, (_, index) => ({ part_number: from + index }))
    const answer = await this.#callUpload('getUploadUrl', { part_info_list: numbers })
    for (const [number, url] of partUrlsIn(answer)) this.#deps.urls.set(number, url)
  }

  /** How many parts the drive has, counted from the first one. Parts of another size make the upload useless. */
  async #storedParts(): Promise<number> {
    const call = 'listUploadedParts'
    const read = (marker: string | undefined) =>
      this.#callUpload(call, { ...(marker !== undefined && { part_number_marker: marker }) })
    let count = 0
    for await (const page of pagesOf(call, 'next_part_number_marker', read)) {
      for (const part of objectsIn(page['uploaded_parts'])) {
        const { start, end } = this.#range(count + 1)
        if (part['part_number'] !== count + 1 || part['part_size'] !== end - start) throw new UploadGone()
        count++
      }
    }
    return count
  }

  /** Undefined when parts are missing. */
  async #complete(): Promise<JsonMembers | undefined> {
    try {
      return await this.#callUpload('complete', {})
    } catch (error) {
      if (!(error instanceof DriveRefusal)) throw error
      if (error.code === 'InvalidParameter.PartNumber') return undefined
      // The file may stand already.
      if (error.status === CONFLICT) throw new UploadGone(undefined, { cause: error })
      throw error
    }
  }

  async #callUpload(name: string, members: JsonMembers): Promise<JsonMembers> {
    const { fileId, uploadId } = this.#deps.state
    const { api } = this.#deps
    const body = { drive_id: api.session.driveId, file_id: fileId, upload_id: uploadId, ...members }
    try {
      return await api.call({ path: `openFile/${name}`, body })
    } catch (error) {
      if (error instanceof DriveRefusal && error.isMissing) throw new UploadGone(undefined, { cause: error })
      throw error
    }
  }
}

export function partCountOf({ size, partSize }: Pick<UploadState, 'size' | 'partSize'>): number {
  return Math.max(1, Math.ceil(size / partSize))
}

/** The URLs in an answer with `part_info_list`. */
export function partUrlsIn(answer: JsonMembers): PartUrls {
  const pairs = objectsIn(answer['part_info_list']).map(
    (part) => [part['part_number'], part['upload_url']] as const,
  )
  return new Map(
    pairs.filter(
      (pair): pair is readonly [number, string] => Number.isInteger(pair[0]) && isHttpUrl(pair[1]),
    ),
  )
}

function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
}

const MAX_ERROR_CHARACTERS = 10_000

/** The object store answers with a status and, for errors, XML. */
async function judgePut(answer: HttpAnswer): Promise<PartOutcome> {
  const { status } = answer
  const text = await orTemporaryFailure('upload', () => answer.text())
  if (status >= 200 && status < 300) return 'stored'
  const code =
    /<Code>([A-Za-z][\w.]{0,60})<\/Code>/.exec(text.slice(0, MAX_ERROR_CHARACTERS))?.[1] ?? `HTTP_${status}`
  if (code === 'PartNotSequential') return 'not_sequential'
  if (status === CONFLICT) return 'stored'
  if (code === 'AccessDenied') return 'expired_url'
  if (code === 'NoSuchUpload') throw new UploadGone()
  const refusal = (errorCode: 'upload_failed' | 'drive_rejected') =>
    new DriveRefusal(errorCode, 'upload', status, code)
  if (isTemporary(status, code)) throw new TemporaryFailure(refusal('upload_failed'), retryAfterMs(answer))
  throw refusal(code.startsWith('QuotaExhausted') ? 'drive_rejected' : 'upload_failed')
}
