import type { AlertTable } from '../../kernel/alerts.ts'
import { MINUTE, isDueAt, DAY } from '../../kernel/time.ts'

export const BACKUP_STATUSES = ['running', 'completed', 'failed'] as const
export type BackupStatus = (typeof BACKUP_STATUSES)[number]

/** The error of a backup whose process has ended before the backup. */
export const INTERRUPTED = 'interrupted'

/** A snapshot of the database in a file. */
export interface DataBackup {
  readonly id: string
  readonly status: BackupStatus
  /** What the snapshot contains; null unless it is completed. */
  readonly sizeBytes: number | null
  readonly sha256: string | null
  /** The number of rows of each table. */
  readonly tables: Readonly<Record<string, number>> | null
  readonly schemaVersion: string | null
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly finishedAt: number | null
  readonly verifiedAt: number | null
  /** Null unless it has failed. */
  readonly error: string | null
  readonly note: string | null
  /** Id of the caller. */
  readonly requestedBy: string
  /** 1 at the request, larger after each change. */
  readonly version: number
}

/** A backup that has begun. */
export function newBackup(
  { id, note, requestedBy }: Pick<DataBackup, 'id' | 'note' | 'requestedBy'>,
  at: number,
): DataBackup {
  return {
    id,
    status: 'running',
    sizeBytes: null,
    sha256: null,
    tables: null,
    schemaVersion: null,
    createdAt: at,
    finishedAt: null,
    verifiedAt: null,
    error: null,
    note,
    requestedBy,
    version: 1,
  }
}

/** What a verified snapshot adds to its backup. */
export type BackupContents = {
  readonly [Name in 'sizeBytes' | 'sha256' | 'tables' | 'schemaVersion']: NonNullable<DataBackup[Name]>
} & { readonly verifiedAt: number }

export function completeBackup(backup: DataBackup, contents: BackupContents, at: number): DataBackup {
  return { ...backup, ...contents, status: 'completed', finishedAt: at, version: backup.version + 1 }
}

export function failBackup(backup: DataBackup, error: string, at: number): DataBackup {
  return { ...backup, status: 'failed', finishedAt: at, error, version: backup.version + 1 }
}

export interface Pruned<T> {
  readonly removed: readonly T[]
  readonly kept: readonly T[]
}

/**
 * Divides completed backups, newest first, into the removed and the kept ones: the `keep` newest ones,
 * and the newest verified one, even if it is older (docs/specification.md, Data backups).
 */
export function pruneBackups<T extends Pick<DataBackup, 'verifiedAt'>>(
  newestFirst: readonly T[],
  keep: number,
): Pruned<T> {
  const newestVerified = newestFirst.find(({ verifiedAt }) => verifiedAt !== null)
  const isKept = (backup: T, index: number) => index < keep || backup === newestVerified
  return {
    removed: newestFirst.filter((backup, index) => !isKept(backup, index)),
    kept: newestFirst.filter(isKept),
  }
}

/** How long the worker waits after a failed backup; less if the backups are more frequent. */
const RETRY_AFTER_MS = 30 * MINUTE

/** Whether the worker makes a backup now. `newest` is the last attempt, if there was one. */
export function isBackupDue(
  newest: Pick<DataBackup, 'status' | 'createdAt'> | undefined,
  everyMs: number,
  now: number,
): boolean {
  if (!newest) return true
  if (newest.status === 'running') return false
  const pauseMs = newest.status === 'failed' ? Math.min(everyMs, RETRY_AFTER_MS) : everyMs
  return isDueAt(newest.createdAt + pauseMs, now, pauseMs)
}

// docs/specification.md, Data backups
const SPACE_FACTOR = 1.2

/** The free space that a backup of a database needs, in bytes. */
export function requiredBytes(databaseBytes: number): number {
  return Math.ceil(databaseBytes * SPACE_FACTOR)
}

/** The alerts of data backups, for `docs/reference/alerts.md`. */
export const DATA_BACKUP_ALERTS = {
  'data.backup.failed': {
    severities: ['ERROR'],
    raisedBy: 'A data backup fails.',
    endedBy: 'The next completed backup, or the last failed one is deleted.',
    whatToDo: 'Remove the cause that the alert names, and make a backup.',
    repeatEveryMs: DAY,
  },
  'data.damaged': {
    severities: ['CRITICAL'],
    raisedBy:
      'Pages of the SQLite file are damaged; it is checked after a process that did not stop in order, and after an error that says so.',
    endedBy: 'A later check finds no damage: one an hour while the alert fires, also after a restoration.',
    whatToDo:
      'Stop the platform and restore the last backup: `platform doctor` names it. Look for errors of the disk (`dmesg`).',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** docs/specification.md, Events */
export const DATA_BACKUP_EVENTS = {
  started: 'data.backup.started',
  completed: 'data.backup.completed',
  failed: 'data.backup.failed',
  deleted: 'data.backup.deleted',
} as const
