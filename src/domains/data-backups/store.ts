import { sql } from 'kysely'
import { NEXT_VERSION, type RowOf } from '../../store/columns.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Tx } from '../../store/store.ts'
import { queuedWork, WORK_COLUMN_NAMES, WorkQueue } from '../../store/work/work-queue.ts'
import type { DataBackup } from './model.ts'
import { dataBackups, changeRow, changeRows, lockable, pages, readRow, readRows } from './tables.ts'

/** A backup that a worker makes. */
export type BackupWork = RowOf<typeof dataBackups>

/** The members of the model. */
const BACKUP = dataBackups.except('seq', 'isPlaced', 'isAlerted', 'deletedAt', ...WORK_COLUMN_NAMES)

export const backupQueue = new WorkQueue('data_backups', dataBackups)

const insert = changeRow((on, backup: Omit<BackupWork, 'seq'>) =>
  on
    .insertInto('data_backups')
    .values(dataBackups.values(backup))
    .onConflict((conflict) => conflict.column('status').where('status', '=', sql.lit('running')).doNothing()),
)

/** Inserts a backup that is due, or one that has failed already; `false` when another one is running. */
export function insertBackup(tx: Tx, backup: DataBackup): Promise<boolean> {
  const isRunning = backup.status === 'running'
  const work = queuedWork(backup.createdAt)
  const dueAt = isRunning ? work.dueAt : null
  return insert(tx, { ...backup, isAlerted: !isRunning, isPlaced: false, deletedAt: null, ...work, dueAt })
}

export const [findBackup, lockBackup] = lockable(
  (on, id: string) =>
    on.selectFrom('data_backups').select(BACKUP).where('id', '=', id).where('deleted_at', 'is', null),
  dataBackups.decode,
)

/** A backup with this SHA-256. */
export const findBackupByHash = readRow(
  (on, sha256: string) =>
    on
      .selectFrom('data_backups')
      .select(BACKUP)
      .where('sha256', '=', sha256)
      .where('deleted_at', 'is', null)
      .limit(1),
  dataBackups.decode,
)

/** The completed backups, newest first, locked until the end of the transaction. */
export const lockCompleted = readRows((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'verifiedAt'))
    .where('status', '=', sql.lit('completed'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .forUpdate(),
)

/** Failed backups that ended before that time, oldest first, locked until the end of the transaction. */
export const lockFailed = readRows(
  (on, before: number, limit: number) =>
    on
      .selectFrom('data_backups')
      .select(BACKUP)
      .where('status', '=', sql.lit('failed'))
      .where('finished_at', '<', before)
      .where('deleted_at', 'is', null)
      .orderBy('seq')
      .limit(limit)
      .forUpdate(),
  dataBackups.decode,
)

/** The last attempt at a backup. */
export const findNewestAttempt = readRow((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'status', 'createdAt'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

/** The last backup for whose failure an alert was raised. */
export const findNewestAlerted = readRow((on) =>
  on
    .selectFrom('data_backups')
    .select('id')
    .where('is_alerted', '=', 1)
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

export const findNewestCompleted = readRow(
  (on) =>
    on
      .selectFrom('data_backups')
      .select(BACKUP)
      .where('status', '=', sql.lit('completed'))
      .where('deleted_at', 'is', null)
      .orderBy('seq', 'desc')
      .limit(1),
  dataBackups.decode,
)

/** Writes the end of a backup; the transaction must hold its lease. */
export const finishBackup = changeRows((on, backup: DataBackup, isAlerted: boolean) =>
  on
    .updateTable('data_backups')
    .set({
      ...dataBackups.setExcept(backup, 'id', 'isAlerted', 'isPlaced', 'deletedAt', ...WORK_COLUMN_NAMES),
      ...dataBackups.set({ isAlerted }, 'isAlerted'),
    })
    .where('id', '=', backup.id),
)

/** Records that the file gets its final name; `false` when the lease was lost. */
export const markPlaced = changeRow((on, work: BackupWork) =>
  on
    .updateTable('data_backups')
    .set({ is_placed: 1 })
    .where('id', '=', work.id)
    .where('lease_holder', '=', work.leaseHolder)
    .where('attempts', '=', work.attempts),
)

/** The backup that a process has claimed or will claim. */
export const findRunningLease = readRow((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'leaseHolder', 'attempts'))
    .where('status', '=', sql.lit('running'))
    .where('due_at', 'is not', null),
)

/** Makes a claimed backup due again, unless its lease has changed. */
export const expireLease = changeRows(
  (on, lease: Pick<BackupWork, 'id' | 'leaseHolder' | 'attempts'>, now: number) =>
    on
      .updateTable('data_backups')
      .set({ due_at: now })
      .where('id', '=', lease.id)
      .where('lease_holder', '=', lease.leaseHolder)
      .where('attempts', '=', lease.attempts),
)

/** Ends a running backup as failed, without its lease; for a database that no process serves. */
export const interruptRunning = changeRows((on, error: string, now: number) =>
  on
    .updateTable('data_backups')
    .set({ status: 'failed', error, finished_at: now, due_at: null, version: NEXT_VERSION })
    .where('status', '=', sql.lit('running')),
)

/** Hides a backup from every operation; its row stays until its file is removed. */
export const deleteBackup = changeRows((on, id: string, now: number) =>
  on.updateTable('data_backups').set({ deleted_at: now }).where('id', '=', id),
)

/** The deleted backups, and the failed ones that may have left a file. */
export const listRemovable = readRows((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'deletedAt'))
    .where((row) =>
      row.or([
        row('deleted_at', 'is not', null),
        row.and([row('status', '=', sql.lit('failed')), row('is_placed', '=', 1)]),
      ]),
    ),
)

const removeDeleted = changeRows((on, id: string) =>
  on.deleteFrom('data_backups').where('id', '=', id).where('deleted_at', 'is not', null),
)

const clearPlaced = changeRows((on, id: string) =>
  on
    .updateTable('data_backups')
    .set({ is_placed: 0 })
    .where('id', '=', id)
    .where('status', '=', sql.lit('failed')),
)

/** Records that no file of the backup is left. */
export async function recordRemoval(tx: Tx, id: string): Promise<void> {
  await removeDeleted(tx, id)
  await clearPlaced(tx, id)
}

/** Newest first. */
export const listBackups = pages(
  { table: 'data_backups', createdAt: 'created_at', size: sizeOf('tables', 'error', 'note') },
  (on) =>
    on
      .selectFrom('data_backups')
      .select([...BACKUP, 'seq'])
      .where('deleted_at', 'is', null),
  {},
  dataBackups.decode,
)
