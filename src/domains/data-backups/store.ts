import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { queuedWork, WorkQueue } from '../../store/work/work-queue.ts'
import type { DataBackup } from './model.ts'
import { dataBackups, pages, readRow, readRows, changeRow, changeRows, lockable } from './tables.ts'

type BackupRow = RowOf<typeof dataBackups>
/** A backup that a worker makes. */
export type BackupWork = BackupRow

/** The members of the model. */
const BACKUP = dataBackups.except(
  'seq',
  'isPlaced',
  'isAlerted',
  'deletedAt',
  'dueAt',
  'leaseHolder',
  'attempts',
  'queuedAt',
  'trace',
)
type StoredBackup = Omit<DataBackup, 'tables'> & { readonly tables: string | null }

export const backupQueue = new WorkQueue('data_backups', dataBackups)

const insert = changeRow((on, row: NewRowOf<typeof dataBackups>) =>
  on
    .insertInto('data_backups')
    .values(dataBackups.values(row))
    .onConflict((conflict) => conflict.column('status').where('status', '=', sql.lit('running')).doNothing()),
)

const [find, lock] = lockable((on, id: string) =>
  on.selectFrom('data_backups').select(BACKUP).where('id', '=', id).where('deleted_at', 'is', null),
)

const lockFailedBefore = readRows((on, before: number, limit: number) =>
  on
    .selectFrom('data_backups')
    .select(BACKUP)
    .where('status', '=', sql.lit('failed'))
    .where('finished_at', '<', before)
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .limit(limit)
    .forUpdate(),
)

const findByHash = readRow((on, sha256: string) =>
  on
    .selectFrom('data_backups')
    .select(BACKUP)
    .where('sha256', '=', sha256)
    .where('deleted_at', 'is', null)
    .limit(1),
)

const newestCompleted = readRow((on) =>
  on
    .selectFrom('data_backups')
    .select(BACKUP)
    .where('status', '=', sql.lit('completed'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

const finish = changeRows((on, change: DataBackup & { isAlerted: boolean }) =>
  on
    .updateTable('data_backups')
    .set(
      dataBackups.set(
        change,
        'status',
        'sizeBytes',
        'sha256',
        'tables',
        'schemaVersion',
        'finishedAt',
        'verifiedAt',
        'error',
        'isAlerted',
        'version',
      ),
    )
    .where('id', '=', change.id),
)

interface RunningLease {
  readonly id: string
  readonly leaseHolder: string | null
  readonly attempts: number
}

const removeDeleted = changeRows((on, id: string) =>
  on.deleteFrom('data_backups').where('id', '=', id).where('deleted_at', 'is not', null),
)

const displace = changeRows((on, id: string) =>
  on
    .updateTable('data_backups')
    .set({ is_placed: 0 })
    .where('id', '=', id)
    .where('status', '=', sql.lit('failed')),
)

/** Inserts a backup that is due, or one that has failed already; `false` when another one is running. */
export async function insertBackup(tx: Tx, backup: DataBackup): Promise<boolean> {
  const work = queuedWork(backup.createdAt)
  const dueAt = backup.status === 'running' ? work.dueAt : null
  const row = { ...withAlert(backup), isPlaced: false, deletedAt: null, ...work, dueAt }
  return await insert(tx, row)
}

export async function findBackup(queries: Queries, id: string): Promise<DataBackup | undefined> {
  return decodeRow(await find(queries, id))
}

/** A backup with this SHA-256. */
export async function findBackupByHash(queries: Queries, sha256: string): Promise<DataBackup | undefined> {
  return decodeRow(await findByHash(queries, sha256))
}

/** Finds a backup and locks it until the end of the transaction. */
export async function lockBackup(tx: Tx, id: string): Promise<DataBackup | undefined> {
  return decodeRow(await lock(tx, id))
}

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
export async function lockFailed(tx: Tx, before: number, limit: number): Promise<DataBackup[]> {
  return (await lockFailedBefore(tx, before, limit)).map((row) => dataBackups.decode({ ...row }))
}

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

export async function findNewestCompleted(queries: Queries): Promise<DataBackup | undefined> {
  return decodeRow(await newestCompleted(queries))
}

/** Writes the end of a backup; the transaction must hold its lease, and raises an alert for a failed one. */
export async function finishBackup(tx: Tx, backup: DataBackup): Promise<void> {
  await finish(tx, withAlert(backup))
}

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
export const expireLease = changeRows((on, lease: RunningLease, now: number) =>
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
    .set({
      status: 'failed',
      error,
      finished_at: now,
      due_at: null,
      version: NEXT_VERSION,
    })
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

/** Records that no file of the backup is left. */
export async function recordRemoval(tx: Tx, id: string): Promise<void> {
  await removeDeleted(tx, id)
  await displace(tx, id)
}

const pageOfBackups = pages(
  { table: 'data_backups', createdAt: 'created_at', size: sizeOf('tables', 'error', 'note') },
  (on) =>
    on
      .selectFrom('data_backups')
      .select([...BACKUP, 'seq'])
      .where('deleted_at', 'is', null),
  {},
)

/** Newest first. */
export async function listBackups(queries: Queries, page: PageRequest): Promise<Page<DataBackup>> {
  return mapPage(await pageOfBackups(queries, {}, page), ({ seq: _seq, ...row }) => dataBackups.decode(row))
}

function decodeRow(row: StoredBackup | undefined): DataBackup | undefined {
  return row && dataBackups.decode({ ...row })
}

function withAlert(backup: DataBackup): DataBackup & { isAlerted: boolean } {
  return { ...backup, isAlerted: backup.status === 'failed' }
}
