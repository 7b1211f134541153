import type { Clock } from '../../../src/kernel/clock.ts'
import { BackupError } from '../errors.ts'
import type { DownloadRange, Drive, DriveFile, UploadOptions, UploadSource, UploadTarget } from './port.ts'

export interface DryRunDeps {
  readonly clock: Clock
  /** Takes one line for each change that is left out. */
  readonly print: (line: string) => void
}

interface PlannedFile {
  readonly file: DriveFile
  readonly folderId: string
  readonly source: UploadSource
}

/** A drive for `--dry-run`: prints each change instead of making it, and answers as if it had been made. */
export class DryRunDrive implements Drive {
  readonly #deps: DryRunDeps
  readonly #folders = new Set<string>()
  readonly #planned = new Map<string, PlannedFile>()
  #nextId = 1

  constructor(deps: DryRunDeps) {
    this.#deps = deps
  }

  async ensureFolder(path: string): Promise<string> {
    const folderId = path.split('/').filter(Boolean).join('/')
    if (!this.#folders.has(folderId)) this.#deps.print(`would create the folder ${folderId}`)
    this.#folders.add(folderId)
    return folderId
  }

  async findFolder(path: string): Promise<string | undefined> {
    const folderId = path.split('/').filter(Boolean).join('/')
    return this.#folders.has(folderId) ? folderId : undefined
  }

  async list(folderId: string): Promise<DriveFile[]> {
    return [...this.#planned.values()].filter((each) => each.folderId === folderId).map(({ file }) => file)
  }

  async stat(fileId: string): Promise<DriveFile | undefined> {
    return this.#planned.get(fileId)?.file
  }

  async upload(
    { folderId, name }: UploadTarget,
    source: UploadSource,
    { onProgress }: UploadOptions = {},
  ): Promise<DriveFile> {
    const { size, sha1 } = source
    const existing = (await this.list(folderId)).find(
      (file) => file.name === name && file.size === size && file.sha1 === sha1,
    )
    if (existing) return existing
    this.#deps.print(`would upload ${folderId}/${name}: ${size} bytes, SHA-1 ${sha1}`)
    const file = { fileId: `dry-run-${this.#nextId++}`, name, size, sha1, createdAt: this.#deps.clock.now() }
    this.#planned.set(file.fileId, { file, folderId, source })
    onProgress?.(size)
    return file
  }

  async *download({ fileId, size }: DriveFile, range?: DownloadRange): AsyncIterable<Uint8Array> {
    const planned = this.#planned.get(fileId)
    if (!planned)
      throw new BackupError('drive_rejected', 'A dry run can only download what it has planned to upload.')
    const { start, end } = range ?? { start: 0, end: size }
    yield* planned.source.read(start, end)
  }

  async delete(fileId: string): Promise<void> {
    const planned = this.#planned.get(fileId)
    if (planned) this.#deps.print(`would delete ${planned.folderId}/${planned.file.name}`)
    this.#planned.delete(fileId)
  }

  async freeBytes(): Promise<number> {
    return Number.MAX_SAFE_INTEGER
  }

  close(): void {}
}
