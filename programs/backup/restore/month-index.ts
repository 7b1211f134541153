import { parseRfc3339 } from '../../../src/kernel/time.ts'
import type { Drive } from '../drive/port.ts'
import { readFile } from '../drive/small-files.ts'
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
  /** Undefined for an index that cannot be read. */
  readonly backups: readonly IndexedBackup[] | undefined
}

const MAX_INDEX_BYTES = 16 * 1_024 ** 2
const BACKUP_ID = /^\d{8}-\d{6}$/
const SHA256 = /^[0-9a-f]{64}$/
// The name becomes one of a file here.
const ARCHIVE_NAME = /^backup-(\d{8}-\d{6})\.tar\.(?:zst|gz)(?:\.age)?$/

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text)
}

/** `202601` of `20260131-020000` */
const monthOf = (backupId: string) => backupId.slice(0, 6)

/** The month such as `202601`; undefined when the drive has none, or no index of it. */
async function readMonth(
  drive: Drive,
  rootDirectory: string,
  month: string,
): Promise<BackupMonth | undefined> {
  const folderId = await drive.findFolder(`${rootDirectory}/backup/${month}`)
  if (folderId === undefined) return undefined
  // Read again, because a bit may have flipped on the way.
  for (let attempt = 0; attempt < 2; attempt++) {
    const text = await readFile(drive, { folderId, name: MANIFEST_NAME }, MAX_INDEX_BYTES)
    if (text === undefined) return undefined
    const backups = parseIndex(text)
    if (backups) return { folderId, backups }
  }
  return { folderId, backups: undefined }
}

/** The archives in the folder of a month, for backups that a damaged index has lost. */
async function listArchives(drive: Drive, folderId: string): Promise<IndexedBackup[]> {
  return (await drive.list(folderId)).flatMap(({ name: file, size, createdAt }) => {
    const backupId = ARCHIVE_NAME.exec(file)?.[1]
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
  const isIt = (each: IndexedBackup) => each.backupId === backupId
  const backup =
    month?.backups?.find(isIt) ?? (month && (await listArchives(drive, month.folderId)).find(isIt))
  if (month && backup) return { folderId: month.folderId, backup }
  if (month && !month.backups) throw damagedIndex(rootDirectory, monthOf(backupId))
  const others = month?.backups?.map((each) => each.backupId).join(', ') ?? ''
  const hint = others === '' ? 'there is none of that month' : `of that month there are ${others}`
  throw new RestoreError(`The drive has no backup ${backupId}; ${hint}.`)
}

function damagedIndex(rootDirectory: string, month: string): RestoreError {
  const message = `The index ${rootDirectory}/backup/${month}/${MANIFEST_NAME} on the drive is damaged.`
  return new RestoreError(message, { isOfDrive: true })
}

const MONTHS_BACK = 24

/** The newest backup of the last two years. Throws a {@link RestoreError} when there is none. */
export async function requireLatestBackup(
  drive: Drive,
  rootDirectory: string,
  now: number,
): Promise<FoundBackup> {
  for (const name of monthsBefore(now)) {
    const month = await readMonth(drive, rootDirectory, name)
    if (!month) continue
    const backups = month.backups ?? (await listArchives(drive, month.folderId))
    const [backup] = backups.toSorted((one, other) => other.createdAt - one.createdAt)
    if (backup) return { folderId: month.folderId, backup }
    if (!month.backups) throw damagedIndex(rootDirectory, name)
  }
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

/** Undefined when the text is no index. */
function parseIndex(text: string): IndexedBackup[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const entries = (Object(value) as { readonly backups?: unknown }).backups
  if (!Array.isArray(entries)) return undefined
  const backups = entries.map(toIndexedBackup)
  return backups.every((backup) => backup !== undefined) ? backups : undefined
}

function toIndexedBackup(entry: unknown): IndexedBackup | undefined {
  const {
    backup_id: backupId,
    file,
    size,
    sha256,
    created_at: created,
  } = Object(entry) as Readonly<Record<string, unknown>>
  const createdAt = typeof created === 'string' ? parseRfc3339(created) : undefined
  if (typeof backupId !== 'string' || !BACKUP_ID.test(backupId)) return undefined
  if (typeof file !== 'string' || !ARCHIVE_NAME.test(file)) return undefined
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return undefined
  if (typeof sha256 !== 'string' || !SHA256.test(sha256) || createdAt === undefined) return undefined
  return { backupId, file, size, sha256, createdAt }
}
