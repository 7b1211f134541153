import { jsonMembersOf } from '../../../src/kernel/text.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'
import { isBackupIdText, isCount, isSha256, isTimeText, objectOf } from '../shape-checks.ts'
import type { Drive, DriveFile } from './port.ts'
import { readFile } from './stored-files.ts'

/** A backup in `MANIFEST.json`, the index of its month on the drive (docs/specification.md, Nightly backup). */
export interface IndexEntry {
  readonly backup_id: string
  /** The name of the archive beside the index. */
  readonly file: string
  readonly size: number
  readonly sha256: string
  readonly created_at: string
  readonly contents: readonly string[]
  readonly servers: readonly string[]
  /** Host name and `install_root` of the server; older entries have none. */
  readonly made_by?: string
}

export interface ReadIndex {
  readonly entries: readonly IndexEntry[]
  /** The files that the entries come from: more than one after writers that did not see each other. */
  readonly files: readonly DriveFile[]
  /** The texts of the files that cannot be used. */
  readonly damaged: readonly string[]
}

// Each further attempt means that another server has replaced the index while it was read.
const ATTEMPTS = 5
const MAX_INDEX_BYTES = 16 * 1_024 ** 2
// A restoration makes a file of this name.
const ARCHIVE_NAME = /^backup-(\d{8}-\d{6})\.tar\.(?:zst|gz)(?:\.age)?$/

/** The id of the backup that an archive of this name has; undefined for another file. */
export function backupIdOf(file: string): string | undefined {
  return ARCHIVE_NAME.exec(file)?.[1]
}

/** The files of the index in the folder of a month, the oldest first. */
export async function indexFiles(drive: Drive, folderId: string): Promise<DriveFile[]> {
  const files = (await drive.list(folderId)).filter(({ name }) => name === MANIFEST_NAME)
  return files.toSorted((a, b) => a.createdAt - b.createdAt)
}

/** The index in the folder of a month, with the entries of all of its files; undefined when it has none. */
export async function readIndex(drive: Drive, folderId: string): Promise<ReadIndex | undefined> {
  for (let attempt = 1; ; attempt++) {
    const files = await indexFiles(drive, folderId)
    try {
      return await readFiles(drive, files)
    } catch (error) {
      const left = await indexFiles(drive, folderId)
      const isReplaced = files.some(({ fileId }) => !left.some((file) => file.fileId === fileId))
      if (attempt === ATTEMPTS || !isReplaced) throw error
    }
  }
}

async function readFiles(drive: Drive, files: readonly DriveFile[]): Promise<ReadIndex | undefined> {
  if (files.length === 0) return undefined
  const entries = new Map<string, IndexEntry>()
  const damaged: string[] = []
  for (const file of files) {
    const read = await readEntries(drive, file)
    if (typeof read === 'string') damaged.push(read)
    else for (const entry of read) entries.set(`${entry.backup_id} ${entry.sha256}`, entry)
  }
  return { entries: [...entries.values()], files, damaged }
}

/** The text of a file that is no index. It is read again first, because a bit may have flipped on the way. */
async function readEntries(drive: Drive, file: DriveFile): Promise<IndexEntry[] | string> {
  const first = entriesIn(await readFile(drive, file, MAX_INDEX_BYTES))
  if (first) return first
  const text = await readFile(drive, file, MAX_INDEX_BYTES)
  return entriesIn(text) ?? text
}

/** Undefined if the text is not an index. Entries keep members that this program does not know. */
function entriesIn(text: string): IndexEntry[] | undefined {
  const { backups } = jsonMembersOf(text)
  return Array.isArray(backups) && backups.every(isEntry) ? (backups as IndexEntry[]) : undefined
}

const isEntry = objectOf({
  backup_id: isBackupIdText,
  file: (value) => typeof value === 'string' && backupIdOf(value) !== undefined,
  size: isCount,
  sha256: isSha256,
  created_at: isTimeText,
})
