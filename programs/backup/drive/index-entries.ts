import { parseRfc3339 } from '../../../src/kernel/time.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'
import type { Drive } from './port.ts'
import { readFile } from './small-files.ts'

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
}

export interface ReadIndex {
  readonly entries: readonly IndexEntry[]
  /** The text of an index that cannot be used. It has no entries then. */
  readonly damaged?: string
}

const MAX_INDEX_BYTES = 16 * 1_024 ** 2
const BACKUP_ID = /^\d{8}-\d{6}$/
const SHA256 = /^[0-9a-f]{64}$/
// A restoration makes a file of this name.
const ARCHIVE_NAME = /^backup-(\d{8}-\d{6})\.tar\.(?:zst|gz)(?:\.age)?$/

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text)
}

/** The id of the backup that an archive of this name has; undefined for another file. */
export function backupIdOf(file: string): string | undefined {
  return ARCHIVE_NAME.exec(file)?.[1]
}

/** The index in the folder of a month; undefined when it has none. */
export async function readIndex(drive: Drive, folderId: string): Promise<ReadIndex | undefined> {
  const first = await readOnce(drive, folderId)
  // Read again, because a bit may have flipped on the way.
  return first?.damaged === undefined ? first : readOnce(drive, folderId)
}

async function readOnce(drive: Drive, folderId: string): Promise<ReadIndex | undefined> {
  const text = await readFile(drive, { folderId, name: MANIFEST_NAME }, MAX_INDEX_BYTES)
  if (text === undefined) return undefined
  const entries = entriesIn(text)
  return entries ? { entries } : { entries: [], damaged: text }
}

/** Undefined when the text is no index. An entry is kept as it is, with members that this program does not know. */
function entriesIn(text: string): IndexEntry[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { backups } = Object(value) as { readonly backups?: unknown }
  return Array.isArray(backups) && backups.every(isEntry) ? backups : undefined
}

function isEntry(value: unknown): value is IndexEntry {
  const members = Object(value) as Readonly<Record<string, unknown>>
  const { backup_id: id, file, size, sha256, created_at: createdAt } = members
  return (
    typeof id === 'string' &&
    isBackupId(id) &&
    typeof file === 'string' &&
    backupIdOf(file) !== undefined &&
    Number.isSafeInteger(size) &&
    Number(size) >= 0 &&
    typeof sha256 === 'string' &&
    SHA256.test(sha256) &&
    typeof createdAt === 'string' &&
    parseRfc3339(createdAt) !== undefined
  )
}
