import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import { lockRows } from '../../store/locking.ts'
import { sizeOf } from '../../store/pages.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import { queuedWork, WorkQueue } from '../../store/work/work-queue.ts'
import type { DataBackup } from './model.ts'
import { lockable, dataBackups, pages, statement } from './tables.ts'

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

const insert = statement<NewRowOf<typeof dataBackups>>((on, value) =>
  on
    .insertInto('data_backups')
    .values(dataBackups.values(value))
    .onConflict((conflict) => conflict.column('status').where('status', '=', sql.lit('running')).doNothing()),
)

const [find, lock] = lockable<{ id: string }, StoredBackup>((on, value) =>
  on.selectFrom('data_backups').select(BACKUP).where('id', '=', value('id')).where('deleted_at', 'is', null),
)

const lockEveryCompleted = statement<object, Pick<DataBackup, 'id' | 'verifiedAt'>>((on, _, capabilities) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'verifiedAt'))
    .where('status', '=', sql.lit('completed'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .$call(lockRows(capabilities)),
)

const lockFailedBefore = statement<{ before: number; limit: number }, StoredBackup>(
  (on, value, capabilities) =>
    on
      .selectFrom('data_backups')
      .select(BACKUP)
      .where('status', '=', sql.lit('failed'))
      .where('finished_at', '<', value('before'))
      .where('deleted_at', 'is', null)
      .orderBy('seq')
      .limit(value('limit'))
      .$call(lockRows(capabilities)),
)

const findByHash = statement<{ sha256: string }, StoredBackup>((on, value) =>
  on
    .selectFrom('data_backups')
    .select(BACKUP)
    .where('sha256', '=', value('sha256'))
    .where('deleted_at', 'is', null)
    .limit(1),
)

const newest = statement<object, Pick<DataBackup, 'id' | 'status' | 'createdAt'>>((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'status', 'createdAt'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

const newestAlerted = statement<object, { id: string }>((on) =>
  on
    .selectFrom('data_backups')
    .select('id')
    .where('is_alerted', '=', 1)
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

const newestCompleted = statement<object, StoredBackup>((on) =>
  on
    .selectFrom('data_backups')
    .select(BACKUP)
    .where('status', '=', sql.lit('completed'))
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1),
)

const finish = statement<DataBackup & { isAlerted: boolean }>((on, value) =>
  on
    .updateTable('data_backups')
    .set(
      dataBackups.set(
        value,
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
    .where('id', '=', value('id')),
)

const place = statement<Pick<BackupWork, 'id' | 'leaseHolder' | 'attempts'>>((on, value) =>
  on
    .updateTable('data_backups')
    .set({ is_placed: 1 })
    .where('id', '=', value('id'))
    .where('lease_holder', '=', value('leaseHolder'))
    .where('attempts', '=', value('attempts')),
)

interface RunningLease {
  readonly id: string
  readonly leaseHolder: string | null
  readonly attempts: number
}

const running = statement<object, RunningLease>((on) =>
  on
    .selectFrom('data_backups')
    .select(dataBackups.pick('id', 'leaseHolder', 'attempts'))
    .where('status', '=', sql.lit('running'))
    .where('due_at', 'is not', null),
)

const expire = statement<RunningLease & { now: number }>((on, value) =>
  on
    .updateTable('data_backups')
    .set({ due_at: value('now') })
    .where('id', '=', value('id'))
    .where('lease_holder', '=', value('leaseHolder'))
    .where('attempts', '=', value('attempts')),
)

const interrupt = statement<{ error: string; now: number }>((on, value) =>
  on
    .updateTable('data_backups')
    .set({
      status: 'failed',
      error: value('error'),
      finished_at: value('now'),
      due_at: null,
      version: NEXT_VERSION,
    })
    .where('status', '=', sql.lit('running')),
)

const markDeleted = statement<{ id: string; now: number }>((on, value) =>
  on
    .updateTable('data_backups')
    .set({ deleted_at: value('now') })
    .where('id', '=', value('id')),
)

const withRemovableFile = statement<object, { id: string; deletedAt: number | null }>((on) =>
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

const removeDeleted = statement<{ id: string }>((on, value) =>
  on.deleteFrom('data_backups').where('id', '=', value('id')).where('deleted_at', 'is not', null),
)

const displace = statement<{ id: string }>((on, value) =>
  on
    .updateTable('data_backups')
    .set({ is_placed: 0 })
    .where('id', '=', value('id'))
    .where('status', '=', sql.lit('failed')),
)

/** Inserts a backup that is due, or one that has failed already; `false` when another one is running. */
export async function insertBackup(tx: Tx, backup: DataBackup): Promise<boolean> {
  const work = queuedWork(backup.createdAt)
  const dueAt = backup.status === 'running' ? work.dueAt : null
  const row = { ...withAlert(backup), isPlaced: false, deletedAt: null, ...work, dueAt }
  return (await tx.change(insert, row)) === 1
}

export async function findBackup(queries: Queries, id: string): Promise<DataBackup | undefined> {
  return decodeRow(await first(queries, find, { id }))
}

/** A backup with this SHA-256. */
export async function findBackupByHash(queries: Queries, sha256: string): Promise<DataBackup | undefined> {
  return decodeRow(await first(queries, findByHash, { sha256 }))
}

/** Finds a backup and locks it until the end of the transaction. */
export async function lockBackup(tx: Tx, id: string): Promise<DataBackup | undefined> {
  return decodeRow(await first(tx, lock, { id }))
}

/** The completed backups, newest first, locked until the end of the transaction. */
export function lockCompleted(tx: Tx): Promise<Pick<DataBackup, 'id' | 'verifiedAt'>[]> {
  return tx.run(lockEveryCompleted, {})
}

/** Failed backups that ended before that time, oldest first, locked until the end of the transaction. */
export async function lockFailed(tx: Tx, before: number, limit: number): Promise<DataBackup[]> {
  return (await tx.run(lockFailedBefore, { before, limit })).map((row) => dataBackups.decode({ ...row }))
}

/** The last attempt at a backup. */
export function findNewestAttempt(
  queries: Queries,
): Promise<Pick<DataBackup, 'id' | 'status' | 'createdAt'> | undefined> {
  return first(queries, newest, {})
}

/** The last backup for whose failure an alert was raised. */
export function findNewestAlerted(queries: Queries): Promise<{ id: string } | undefined> {
  return first(queries, newestAlerted, {})
}

export async function findNewestCompleted(queries: Queries): Promise<DataBackup | undefined> {
  return decodeRow(await first(queries, newestCompleted, {}))
}

/** Writes the end of a backup; the transaction must hold its lease, and raises an alert for a failed one. */
export async function finishBackup(tx: Tx, backup: DataBackup): Promise<void> {
  await tx.change(finish, withAlert(backup))
}

/** Records that the file gets its final name; `false` when the lease was lost. */
export async function markPlaced(tx: Tx, work: BackupWork): Promise<boolean> {
  return (await tx.change(place, work)) === 1
}

/** The backup that a process has claimed or will claim. */
export function findRunningLease(queries: Queries): Promise<RunningLease | undefined> {
  return first(queries, running, {})
}

/** Makes a claimed backup due again, unless its lease has changed. */
export async function expireLease(tx: Tx, lease: RunningLease, now: number): Promise<void> {
  await tx.change(expire, { ...lease, now })
}

/** Ends a running backup as failed, without its lease; for a database that no process serves. */
export async function interruptRunning(tx: Tx, error: string, now: number): Promise<void> {
  await tx.change(interrupt, { error, now })
}

/** Hides a backup from every operation; its row stays until its file is removed. */
export async function deleteBackup(tx: Tx, id: string, now: number): Promise<void> {
  await tx.change(markDeleted, { id, now })
}

/** The deleted backups, and the failed ones that may have left a file. */
export function listRemovable(queries: Queries): Promise<{ id: string; deletedAt: number | null }[]> {
  return queries.run(withRemovableFile, {})
}

/** Records that no file of the backup is left. */
export async function recordRemoval(tx: Tx, id: string): Promise<void> {
  await tx.change(removeDeleted, { id })
  await tx.change(displace, { id })
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
