import { parseRfc3339 } from '../../../src/kernel/time.ts'
import { BackupError } from '../errors.ts'
import {
  CONFLICT,
  DriveApi,
  type DriveApiOptions,
  DriveRefusal,
  isTemporary,
  retryAfterMs,
  orTemporaryFailure,
} from './api.ts'
import { ConnectionError, HttpClient, type HttpAnswer } from './http.ts'
import { objectsIn, textOf, type JsonMembers } from './json-members.ts'
import { pagesOf } from './paging.ts'
import { partCountOf, PartUpload, partUrlsIn, UploadGone, type PartUrls } from './part-upload.ts'
import type {
  DownloadRange,
  Drive,
  DriveFile,
  UploadOptions,
  UploadSource,
  UploadState,
  UploadTarget,
} from './port.ts'
import { proofCode } from './sources.ts'
import { RateLimit } from './rate-limit.ts'
import { CALL_TIMEOUT_MS, TemporaryFailure, withRetries } from './retry.ts'

export interface RemoteDriveOptions extends Omit<DriveApiOptions, 'http'> {
  /** Files larger than this are uploaded in parts. */
  readonly partSize: number
  readonly bytesPerSecond?: number | undefined
}

const ROOT_ID = 'root'
const PAGE_LIMIT = 100
const MAX_PARTS = 10_000
const BEGINNINGS = 3
const DOWNLOAD_URL_SECONDS = 14_400

/** The drive over its HTTP API. Throws `token_unreadable`. */
export function openRemoteDrive(options: RemoteDriveOptions): Drive {
  const http = new HttpClient(options.clock)
  return new RemoteDrive(options, http, new DriveApi({ ...options, http }))
}

class RemoteDrive implements Drive {
  readonly #options: RemoteDriveOptions
  readonly #http: HttpClient
  readonly #api: DriveApi
  readonly #rateLimit: RateLimit | undefined

  constructor(options: RemoteDriveOptions, http: HttpClient, api: DriveApi) {
    const { bytesPerSecond, clock } = options
    this.#options = options
    this.#http = http
    this.#api = api
    this.#rateLimit = bytesPerSecond === undefined ? undefined : new RateLimit(clock, bytesPerSecond)
  }

  async ensureFolder(path: string): Promise<string> {
    let folderId = ROOT_ID
    for (const name of segmentsOf(path)) {
      const answer = await this.#createFolder(folderId, name)
      if (answer['type'] !== undefined && answer['type'] !== 'folder')
        throw new BackupError('drive_rejected', `create: ${name} is a file on the drive, not a folder`)
      folderId = textIn(answer, 'file_id', 'create')
    }
    return folderId
  }

  async findFolder(path: string): Promise<string | undefined> {
    let folderId: string | undefined = ROOT_ID
    for (const name of segmentsOf(path)) {
      const folders: JsonMembers[] = await this.#items(folderId, 'folder')
      const match = folders.find((each) => each['name'] === name)
      if (!match) return undefined
      folderId = textIn(match, 'file_id', 'list')
    }
    return folderId
  }

  async list(folderId: string): Promise<DriveFile[]> {
    const items = await this.#items(folderId, 'file')
    const available = items.filter(
      ({ type, status }) => type === 'file' && (status ?? 'available') === 'available',
    )
    return available.map(toDriveFile)
  }

  async stat(fileId: string): Promise<DriveFile | undefined> {
    try {
      const record = await this.#call('openFile/get', { file_id: fileId })
      return (record['status'] ?? 'available') === 'available' ? toDriveFile(record) : undefined
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  async upload(target: UploadTarget, source: UploadSource, options: UploadOptions = {}): Promise<DriveFile> {
    const existing = (await this.#namesakes(target)).find((file) => isSame(file, source))
    return existing ?? this.#store(target, source, options)
  }

  async *download(
    file: DriveFile,
    range: DownloadRange = { start: 0, end: file.size },
  ): AsyncIterable<Uint8Array> {
    let at = range.start
    // After a lost connection the download continues where it stopped.
    while (at < range.end) {
      const answer = await this.#openDownload(file, { start: at, end: range.end })
      let received = 0
      try {
        for await (const chunk of answer.chunks()) {
          const piece = chunk.subarray(0, range.end - at)
          at += piece.length
          received += piece.length
          yield piece
        }
      } catch (error) {
        if (received === 0) throw unreachableError('download', error)
      }
      if (received === 0)
        throw new BackupError('drive_unreachable', 'download: the drive sent fewer bytes than it named')
    }
  }

  async delete(fileId: string): Promise<void> {
    try {
      await this.#call('openFile/delete', { file_id: fileId })
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async freeBytes(): Promise<number> {
    const answer = await this.#api.call({ path: 'user/getSpaceInfo', body: {} })
    const [space = {}] = objectsIn([answer['personal_space_info']])
    return Math.max(0, Number(space['total_size'] ?? 0) - Number(space['used_size'] ?? 0))
  }

  close(): void {
    this.#http.close()
  }

  #call(path: string, members: JsonMembers): Promise<JsonMembers> {
    return this.#api.call({ path, body: { drive_id: this.#api.session.driveId, ...members } })
  }

  async #items(folderId: string, type: 'file' | 'folder'): Promise<JsonMembers[]> {
    const read = (marker: string | undefined) =>
      this.#call('openFile/list', {
        parent_file_id: folderId,
        limit: PAGE_LIMIT,
        order_by: 'created_at',
        order_direction: 'ASC',
        type,
        ...(marker !== undefined && { marker }),
      })
    const items: JsonMembers[] = []
    for await (const page of pagesOf('list', 'next_marker', read)) items.push(...objectsIn(page['items']))
    return items
  }

  async #createFolder(parentId: string, name: string): Promise<JsonMembers> {
    const members = { parent_file_id: parentId, name, type: 'folder', check_name_mode: 'refuse' }
    try {
      return await this.#call('openFile/create', members)
    } catch (error) {
      if (!isConflict(error)) throw error
      const folders = await this.#items(parentId, 'folder')
      const existing = folders.find((each) => each['name'] === name)
      if (!existing) throw error
      return existing
    }
  }

  async #namesakes({ folderId, name }: UploadTarget): Promise<DriveFile[]> {
    return (await this.list(folderId)).filter((file) => file.name === name)
  }

  async #store(target: UploadTarget, source: UploadSource, options: UploadOptions): Promise<DriveFile> {
    const resumed = options.resume && isSame(options.resume, source) ? options.resume : undefined
    if (resumed) {
      const urls: PartUrls = new Map()
      const file = await this.#goOn(target, source, options, { state: resumed, urls, isResumed: true })
      if (file) return file
    }
    for (let beginning = 0; beginning < BEGINNINGS; beginning++) {
      const begun = await this.#begin(target, source, options)
      if ('file' in begun) return begun.file
      const file = await this.#goOn(target, source, options, begun)
      if (file) return file
    }
    throw new BackupError('upload_failed', `The drive has lost the upload ${BEGINNINGS} times.`)
  }

  /** Begins an upload. Tries a rapid upload first, because the drive may already have the content. */
  async #begin(
    target: UploadTarget,
    source: UploadSource,
    { onState }: UploadOptions,
  ): Promise<{ readonly file: DriveFile } | BegunUpload> {
    const partSize = Math.max(this.#options.partSize, Math.ceil(source.size / MAX_PARTS))
    const answer = await this.#create(target, source, partSize).catch(async (error: unknown) => {
      if (!isConflict(error)) throw error
      const file = (await this.#namesakes(target)).find((each) => isSame(each, source))
      if (!file) throw error
      return { file_id: file.fileId, rapid_upload: true }
    })
    const fileId = textIn(answer, 'file_id', 'create')
    if (answer['rapid_upload'] === true) return { file: await this.#requireFile(fileId) }
    const uploadId = textIn(answer, 'upload_id', 'create')
    const urls = partUrlsIn(answer)
    const { size, sha1 } = source
    const state = { fileId, uploadId, size, sha1, partSize, hasUrls: urls.size > 0 }
    onState?.(state)
    return { state, urls, isResumed: false }
  }

  async #create(target: UploadTarget, source: UploadSource, partSize: number): Promise<JsonMembers> {
    const count = partCountOf({ size: source.size, partSize })
    const members = {
      drive_id: this.#api.session.driveId,
      parent_file_id: target.folderId,
      name: target.name,
      type: 'file',
      // The caller decides which other files of this name are deleted.
      check_name_mode: 'ignore',
      size: source.size,
      part_info_list: Array.from({ length: count }, (_, index) => ({ part_number: index + 1 })),
    }
    const path = 'openFile/create'
    const hash = { content_hash: source.sha1, content_hash_name: 'sha1', proof_version: 'v1' }
    try {
      return await this.#api.call({
        path,
        // The proof is valid with this token only.
        body: async (token) => ({ ...members, ...hash, proof_code: await proofCode(token, source) }),
      })
    } catch (error) {
      if (!(error instanceof DriveRefusal) || error.code !== 'InvalidRapidProof') throw error
      return this.#api.call({ path, body: members })
    }
  }

  /** Continues an upload; undefined if the drive has forgotten it. */
  async #goOn(
    target: UploadTarget,
    source: UploadSource,
    { onProgress }: UploadOptions,
    { state, urls, isResumed }: BegunUpload,
  ): Promise<DriveFile | undefined> {
    const rateLimit = this.#rateLimit
    const parts = new PartUpload({ api: this.#api, source, state, urls, rateLimit, onProgress })
    try {
      return toDriveFile(await parts.run({ isResumed }))
    } catch (error) {
      if (!(error instanceof UploadGone)) throw error
      // The upload may be complete if only the response was lost.
      return (await this.#namesakes(target)).find((file) => isSame(file, source))
    }
  }

  async #requireFile(fileId: string): Promise<DriveFile> {
    const file = await this.stat(fileId)
    if (file) return file
    throw new BackupError('upload_failed', 'The drive does not have the file that it has just stored.')
  }

  /** The answer to a download, with the status checked. */
  async #openDownload(file: DriveFile, { start, end }: DownloadRange): Promise<HttpAnswer> {
    return withRetries(this.#api.retry, async ({ moved }) => {
      const members = { file_id: file.fileId, expire_sec: DOWNLOAD_URL_SECONDS }
      const url = textIn(await this.#call('openFile/getDownloadUrl', members), 'url', 'getDownloadUrl')
      const headers = { Range: `bytes=${start}-${end - 1}` }
      const call = { method: 'GET', url, headers, idleMs: CALL_TIMEOUT_MS, onMove: moved } as const
      const answer = await orTemporaryFailure('download', () => this.#api.send(call))
      const isWhole = start === 0 && end === file.size
      if (answer.status === 206 || (answer.status === 200 && isWhole)) return answer
      answer.discard()
      throw downloadFailure(answer)
    })
  }
}

interface BegunUpload {
  readonly state: UploadState
  readonly urls: PartUrls
  readonly isResumed: boolean
}

/** An expired URL is replaced by the next try. */
function downloadFailure(answer: HttpAnswer): Error {
  const { status } = answer
  const refusal = new DriveRefusal('drive_rejected', 'download', status, `HTTP_${status}`)
  const isRepeatable = status === 403 || isTemporary(status, '')
  return isRepeatable ? new TemporaryFailure(refusal, retryAfterMs(answer)) : refusal
}

function unreachableError(call: string, error: unknown): unknown {
  return error instanceof ConnectionError
    ? new BackupError('drive_unreachable', `${call}: ${error.message}`, { cause: error })
    : error
}

function isGone(error: unknown): boolean {
  return error instanceof DriveRefusal && (error.isMissing || error.code === 'ForbiddenFileInTheRecycleBin')
}

/** Whether the object that the call would create may exist already. */
function isConflict(error: unknown): boolean {
  return error instanceof DriveRefusal && error.status === CONFLICT
}

function isSame(file: Pick<DriveFile, 'size' | 'sha1'>, source: UploadSource): boolean {
  return file.size === source.size && file.sha1 === source.sha1
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function textIn(members: JsonMembers, name: string, call: string): string {
  const value = textOf(members, name)
  if (value !== '') return value
  throw new BackupError('drive_rejected', `${call}: the answer has no ${name}`)
}

function toDriveFile(record: JsonMembers): DriveFile {
  return {
    fileId: textIn(record, 'file_id', 'get'),
    name: textIn(record, 'name', 'get'),
    size: Number(record['size'] ?? Number.NaN),
    sha1: textOf(record, 'content_hash').toUpperCase(),
    createdAt: parseRfc3339(textOf(record, 'created_at')) ?? 0,
  }
}
