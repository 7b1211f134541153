/** A file on the drive, as the drive describes it. */
export interface DriveFile {
  readonly fileId: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** SHA-1 of the content in hexadecimal digits, in upper case; the drive knows no other hash. */
  readonly sha1: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The content of an upload, which must not change meanwhile. */
export interface UploadSource {
  /** Bytes. */
  readonly size: number
  /** SHA-1 in hexadecimal digits, in upper case. */
  readonly sha1: string
  /** The bytes from `start` to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

export interface UploadTarget {
  readonly folderId: string
  readonly name: string
}

/** The state with which another process can continue an upload. A plain value, without secrets. */
export interface UploadState {
  readonly fileId: string
  readonly uploadId: string
  readonly size: number
  readonly sha1: string
  readonly partSize: number
  /** Whether parts go to URLs of their own; otherwise to `openFile/uploadPart`. */
  readonly hasUrls: boolean
}

export interface UploadOptions {
  /** The state of an upload that was interrupted. It is ignored when it belongs to another content. */
  readonly resume?: UploadState | undefined
  /** Called when an upload in parts begins, before its first part. The caller stores the state durably. */
  readonly onState?: (state: UploadState) => void
  /** Called with the number of bytes that the drive has, after each part. */
  readonly onProgress?: (bytes: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A part of a file: from `start` to `end`, exclusive. */
export interface DownloadRange {
  readonly start: number
  readonly end: number
}

/**
 * The cloud drive of the backups. Every call may be repeated, also by another process, and rejects with a `BackupError`.
 * Implementations pass the suite in `test/contract/drive.contract.ts`.
 */
export interface Drive {
  /** The id of the folder at a path such as `server/backup/202601`; creates what is missing of it. */
  ensureFolder(path: string): Promise<string>
  /** The id of the folder at a path, or undefined. Creates nothing. */
  findFolder(path: string): Promise<string | undefined>
  /** The files in a folder, oldest first, without folders and without unfinished uploads. */
  list(folderId: string): Promise<DriveFile[]>
  /** The file with this id, or undefined. */
  stat(fileId: string): Promise<DriveFile | undefined>
  /**
   * Makes the content available under the name. A file of this name with this content is kept and nothing is sent. Other
   * files of this name stay: another server may have made them.
   */
  upload(target: UploadTarget, source: UploadSource, options?: UploadOptions): Promise<DriveFile>
  /** The content of a file, or a range of it. Rejects when fewer bytes arrive than the drive has named. */
  download(file: DriveFile, range?: DownloadRange): AsyncIterable<Uint8Array>
  /** Deletes a file. Succeeds when it is already gone. */
  delete(fileId: string): Promise<void>
  /** The free space in bytes. */
  freeBytes(): Promise<number>
  /** Closes idle connections. May be called twice. */
  close(): void
}
