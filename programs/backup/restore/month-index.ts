import { MINUTE, parseRfc3339 } from '../../../src/kernel/time.ts'
import { backupIdOf, readIndex, type IndexEntry } from '../drive/index-entries.ts'
import type { Drive } from '../drive/port.ts'
import { monthOf } from '../night/local-time.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'
import { RestoreError } from './restore-error.ts'

/** A backup on the drive. */
export interface IndexedBackup {
  readonly backupId: string
  /** The name of the archive beside the index. */
  readonly file: string
  /** Bytes. */
  readonly size: number
  /** SHA-256 of the archive in hexadecimal digits; undefined when no index names it. */
  readonly sha256: string | undefined
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The folder of a month on the drive, with the backups that its index names. */
interface BackupMonth {
  readonly folderId: string
  /** Empty for an index that is missing or cannot be read. */
  readonly backups: readonly IndexedBackup[]
  readonly isDamaged: boolean
}

/** The month such as `202601`; undefined when the drive has none. */
async function readMonth(
  drive: Drive,
  rootDirectory: string,
  month: string,
): Promise<BackupMonth | undefined> {
  const folderId = await drive.findFolder(`${rootDirectory}/backup/${month}`)
  if (folderId === undefined) return undefined
  const { entries, damaged } = (await readIndex(drive, folderId)) ?? { entries: [], damaged: [] }
  return { folderId, backups: entries.map(toIndexedBackup), isDamaged: damaged.length > 0 }
}

/** The archives in the folder of a month, for backups that no index names. */
async function listArchives(drive: Drive, folderId: string): Promise<IndexedBackup[]> {
  return (await drive.list(folderId)).flatMap(({ name: file, size, createdAt }) => {
    const backupId = backupIdOf(file)
    return backupId === undefined ? [] : [{ backupId, file, size, sha256: undefined, createdAt }]
  })
}

export interface FoundBackup {
  readonly folderId: string
  readonly backup: IndexedBackup
}

/** The folder and the entry of a backup. Throws a {@link RestoreError} that names the backups of its month. */
export async function requireBackup(
  drive: Drive,
  rootDirectory: string,
  backupId: string,
): Promise<FoundBackup> {
  const month = await readMonth(drive, rootDirectory, monthOf(backupId))
  const isWanted = (each: IndexedBackup) => each.backupId === backupId
  const backup =
    month?.backups.find(isWanted) ?? (month && (await listArchives(drive, month.folderId)).find(isWanted))
  if (month && backup) return { folderId: month.folderId, backup }
  if (month?.isDamaged) throw damagedIndex(rootDirectory, monthOf(backupId))
  const others = month?.backups.map((each) => each.backupId).join(', ') ?? ''
  const hint = others === '' ? 'there is none of that month' : `of that month there are ${others}`
  throw new RestoreError(`The drive has no backup ${backupId}; ${hint}.`)
}

function damagedIndex(rootDirectory: string, month: string): RestoreError {
  const message = `The index ${rootDirectory}/backup/${month}/${MANIFEST_NAME} on the drive is damaged.`
  return new RestoreError(message, { isOfDrive: true })
}

const MONTHS_BACK = 24

// Hosts agree to this time; a backup that is later was made while a clock was ahead.
const CLOCK_TOLERANCE_MS = 10 * MINUTE

/**
 * The newest backup of the last two years. One whose date is in the future is taken only if there is no other, with a
 * warning. Throws a {@link RestoreError} when there is none.
 */
export async function requireLatestBackup(
  drive: Drive,
  rootDirectory: string,
  now: number,
  onFuture: (backupId: string) => void,
): Promise<FoundBackup> {
  let ofFuture: FoundBackup | undefined
  for (const name of monthsBefore(now)) {
    const month = await readMonth(drive, rootDirectory, name)
    if (!month) continue
    const indexed = month.backups.length > 0 ? month.backups : await listArchives(drive, month.folderId)
    const newestFirst = indexed.toSorted((one, other) => other.createdAt - one.createdAt)
    const backup = newestFirst.find(({ createdAt }) => createdAt <= now + CLOCK_TOLERANCE_MS)
    const [newest] = newestFirst
    if (newest && newest !== backup) onFuture(newest.backupId)
    if (backup) return { folderId: month.folderId, backup }
    if (newest) ofFuture ??= { folderId: month.folderId, backup: newest }
    if (month.isDamaged) throw damagedIndex(rootDirectory, name)
  }
  if (ofFuture) return ofFuture
  const message = `The drive has no backup of the last ${MONTHS_BACK} months in ${rootDirectory}/backup.`
  throw new RestoreError(message, { isOfDrive: true })
}

/** The newest first, and the next one: a backup is named in its own time zone. */
function monthsBefore(now: number): string[] {
  const today = new Date(now)
  return Array.from({ length: MONTHS_BACK + 1 }, (_, back) => {
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1 - back, 1))
    return first.toISOString().slice(0, 7).replace('-', '')
  })
}

function toIndexedBackup({ backup_id: backupId, file, size, sha256, created_at }: IndexEntry): IndexedBackup {
  return { backupId, file, size, sha256, createdAt: parseRfc3339(created_at) ?? 0 }
}
