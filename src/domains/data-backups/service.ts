import type { WaitingClock } from '../../kernel/clock.ts'
import { AppError, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { DAY, SECOND, toRfc3339 } from '../../kernel/time.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Snapshots } from '../../ports/database-files.ts'
import { isDeadHolder } from '../../store/work/holder.ts'
import type { Queries, Store, Tx } from '../../store/store.ts'
import {
  DATA_BACKUP_ALERTS,
  completeBackup,
  failBackup,
  isBackupDue,
  newBackup,
  pruneBackups,
  type DataBackup,
  type Pruned,
  DATA_BACKUP_EVENTS,
} from './model.ts'
import type { BackupFiles } from './files.ts'
import {
  deleteBackup,
  findBackup,
  findBackupByHash,
  findNewestAlerted,
  findNewestAttempt,
  findNewestCompleted,
  findRunningLease,
  finishBackup,
  insertBackup,
  listBackups,
  listRemovable,
  lockBackup,
  lockCompleted,
  lockFailed,
  recordRemoval,
} from './store.ts'
import type { BackupResult } from './worker.ts'

const DATE_LENGTH = 'YYYY-MM-DD'.length

/** What the domain of data backups needs of the rest of the platform. */
export interface DataBackupDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<DataBackup>
  readonly alerts: RecoverableAlerts
  readonly snapshots: Snapshots
  /** Where the files are. */
  readonly directory: string
  /** The period of the worker's backups in milliseconds; without it the worker makes none. */
  readonly everyMs?: number | undefined
  /** How many completed backups the worker keeps. */
  readonly keep: number
  /** Finds damaged pages of the database; undefined for an engine that checks them itself. */
  readonly findDamage?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined
}

interface ServiceOptions extends DataBackupDeps {
  readonly files: BackupFiles
  /** Makes requested backups; called after the commit of a request. */
  readonly wake: () => void
}

/** A file of a backup, as it is downloaded. */
export interface BackupFile {
  readonly backup: DataBackup
  readonly path: string
  readonly name: string
  readonly sizeBytes: number
  readonly sha256: string
}

type Change = keyof typeof DATA_BACKUP_EVENTS

/** The errors of {@link DataBackups.requireSpace}. */
const CANNOT_BEGIN: readonly unknown[] = ['no_space', 'backup_directory_unavailable']
/** The actor of what the worker does by itself. */
const WORKER = 'worker'
// Failed backups have no file; their rows are kept as long as recovered alerts are by default.
const KEEP_FAILED_MS = 90 * DAY
// Small batches keep the transactions short.
const FORGET_BATCH = 100
const WATCH_EVERY_MS = SECOND / 4

/** The backups of the database: their requests, files and removal. */
export class DataBackups {
  readonly #options: ServiceOptions
  readonly #changes: Counter

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#changes = options.metrics.counter({
      name: 'data_backups_total',
      help: 'Data backups by what has happened to them.',
      labels: { change: Object.keys(DATA_BACKUP_EVENTS) },
    })
  }

  /** Rejects with `no_space` and `backup_directory_unavailable`. To be called before {@link create}: it takes longer than a transaction may. */
  async requireSpace(): Promise<void> {
    const { files, snapshots } = this.#options
    await files.requireSpace(await snapshots.databaseBytes())
  }

  /** Requests a backup, which a worker makes. Rejects with `backup_running` while there is another one. */
  async create(
    tx: Tx,
    { note = null }: { readonly note?: string | null },
    actor: string,
  ): Promise<DataBackup> {
    const backup = newBackup({ id: newId(), note, requestedBy: actor }, this.#options.clock.now())
    if (!(await insertBackup(tx, backup))) throw backupRunning('Another backup is running; wait for its end.')
    await this.#record(tx, 'started', backup, actor)
    tx.afterCommit(() => this.#options.wake())
    return backup
  }

  /**
   * Requests a backup and waits for its end, completed or failed, for as long as `signal` is not aborted. The worker
   * of this process or of another one makes it. Rejects as {@link requireSpace}, and with
   * `backup_running`.
   */
  async backUp(
    options: { readonly note?: string | null },
    actor: string,
    signal?: AbortSignal,
    record?: (tx: Tx, backup: DataBackup) => Promise<void>,
  ): Promise<DataBackup> {
    const { clock, store } = this.#options
    await this.requireSpace()
    await this.#waitWhileInterrupted(signal)
    let backup = await store.write(async (tx) => {
      const created = await this.create(tx, options, actor)
      await record?.(tx, created)
      return created
    })
    while (backup.status === 'running' && !signal?.aborted) {
      await clock.wait(WATCH_EVERY_MS, signal)
      backup = await this.get(backup.id)
    }
    return backup
  }

  /** A worker records the end of a backup whose process has died; until then no other one can begin. */
  async #waitWhileInterrupted(signal: AbortSignal | undefined): Promise<void> {
    const { clock, store } = this.#options
    while (!signal?.aborted && (await isInterrupted(store.read))) await clock.wait(WATCH_EVERY_MS, signal)
  }

  /** Rejects with `backup_not_found`. */
  async get(id: string, queries: Queries = this.#options.store.read): Promise<DataBackup> {
    return requireFound(await findBackup(queries, id), 'backup', id)
  }

  /** Newest first. */
  list(page: PageRequest): Promise<Page<DataBackup>> {
    return listBackups(this.#options.store.read, {}, page)
  }

  /** The last completed backup. */
  newestCompleted(): Promise<DataBackup | undefined> {
    return findNewestCompleted(this.#options.store.read)
  }

  /** The backup whose file has this SHA-256. */
  findByHash(sha256: string): Promise<DataBackup | undefined> {
    return findBackupByHash(this.#options.store.read, sha256)
  }

  /** Rejects with `backup_not_found`, and with `backup_file_not_found` if it has no file or not the whole one. */
  async file(id: string): Promise<BackupFile> {
    const { files } = this.#options
    const backup = await this.get(id)
    const { sizeBytes, sha256 } = backup
    if (sizeBytes === null || sha256 === null || (await files.sizeOf(id)) !== sizeBytes)
      throw missingFile(backup)
    // People keep the files of several days in one directory.
    const name = `platform-${toRfc3339(backup.createdAt).slice(0, DATE_LENGTH)}-${files.nameOf(id)}`
    return { backup, path: files.pathOf(id), name, sizeBytes, sha256 }
  }

  /** Deletes a backup; its file goes after the commit. Rejects with `backup_not_found` and `backup_running`. */
  async remove(tx: Tx, id: string, actor: string): Promise<void> {
    const backup = requireFound(await lockBackup(tx, id), 'backup', id)
    if (backup.status === 'running')
      throw backupRunning('The backup is running; it can be deleted after its end.')
    await this.#delete(tx, backup, actor)
  }

  /** Deletes the completed backups that {@link pruneBackups} removes. */
  async prune(tx: Tx, keep: number, actor: string): Promise<Pruned<string>> {
    const { removed, kept } = pruneBackups(await lockCompleted(tx), keep)
    for (const { id } of removed)
      await this.#delete(tx, requireFound(await lockBackup(tx, id), 'backup', id), actor)
    return { removed: removed.map(({ id }) => id), kept: kept.map(({ id }) => id) }
  }

  /** Removes the files of deleted backups. It may run twice, and in several processes. */
  async removeFiles(): Promise<void> {
    const { files, store } = this.#options
    for (const { id } of await listRemovable(store.read)) {
      await files.remove(id)
      await store.write((tx) => recordRemoval(tx, id))
    }
  }

  /** What the worker does from time to time: makes the next backup when it is due, and deletes old ones. */
  async maintain(): Promise<void> {
    const { clock, everyMs, keep, store } = this.#options
    await store.write((tx) => this.#forgetFailed(tx, clock.now() - KEEP_FAILED_MS))
    if (everyMs !== undefined) {
      await store.write((tx) => this.prune(tx, keep, WORKER))
      if (isBackupDue(await findNewestAttempt(store.read), everyMs, clock.now()))
        await this.#backUpIfPossible()
    }
    await this.removeFiles()
  }

  /** Records the end of a backup in the transaction that ends its lease. */
  async finish(tx: Tx, backup: DataBackup, result: BackupResult): Promise<void> {
    const now = this.#options.clock.now()
    if (result.status === 'failed') {
      const failed = failBackup(backup, result.error, now)
      await finishBackup(tx, failed, true)
      return this.#recordFailure(tx, failed)
    }
    const completed = completeBackup(backup, result.contents, now)
    await finishBackup(tx, completed, false)
    const body = `The backup ${backup.id} is completed.`
    await this.#options.alerts.recoverIfRaised(tx, { ...ALERT, body })
    await this.#record(tx, 'completed', completed, backup.requestedBy)
  }

  async #recordFailure(tx: Tx, backup: DataBackup): Promise<void> {
    const body = `The backup ${backup.id} has failed: ${backup.error}`
    await this.#options.alerts.raise(tx, { ...ALERT, body, severity: 'ERROR' })
    await this.#record(tx, 'failed', backup, backup.requestedBy)
  }

  async #backUpIfPossible(): Promise<void> {
    const { store } = this.#options
    try {
      await this.requireSpace()
      await store.write((tx) => this.create(tx, {}, WORKER))
    } catch (error) {
      const code = error instanceof AppError ? error.code : undefined
      if (CANNOT_BEGIN.includes(code))
        await store.write((tx) => this.#refuse(tx, (error as AppError).message))
      // If another process was faster, there is nothing to do.
      else if (code !== 'backup_running') throw error
    }
  }

  /** Records a backup of the worker that cannot begin. */
  async #refuse(tx: Tx, reason: string): Promise<void> {
    const now = this.#options.clock.now()
    const backup = failBackup(newBackup({ id: newId(), note: null, requestedBy: WORKER }, now), reason, now)
    await insertBackup(tx, backup)
    await this.#recordFailure(tx, backup)
  }

  /** Deletes one batch of the failed backups that ended before that time. */
  async #forgetFailed(tx: Tx, before: number): Promise<void> {
    for (const backup of await lockFailed(tx, before, FORGET_BATCH)) await this.#delete(tx, backup, WORKER)
  }

  async #delete(tx: Tx, backup: DataBackup, actor: string): Promise<void> {
    if (backup.status === 'failed' && (await findNewestAlerted(tx))?.id === backup.id)
      await this.#options.alerts.recoverIfRaised(tx, { ...ALERT, body: 'The failed backup was deleted.' })
    await deleteBackup(tx, backup.id, this.#options.clock.now())
    await this.#record(tx, 'deleted', { ...backup, version: backup.version + 1 }, actor)
  }

  /** Writes the event of a change in its transaction, and counts it after the commit. */
  async #record(tx: Tx, change: Change, backup: DataBackup, actor: string): Promise<void> {
    const { events, logger } = this.#options
    const { id, error } = backup
    await events.append(tx, { type: DATA_BACKUP_EVENTS[change], subject: id, data: backup })
    tx.afterCommit(() => {
      this.#changes.increment({ change })
      const level = change === 'failed' ? 'warn' : 'info'
      logger[level](
        { backup_id: id, actor, ...(error !== null && { reason: error }) },
        `data backup ${change}`,
      )
    })
  }
}

async function isInterrupted(queries: Queries): Promise<boolean> {
  const { attempts = 0, leaseHolder = null } = (await findRunningLease(queries)) ?? {}
  // The second attempt only records the end.
  return attempts > 1 || (leaseHolder !== null && isDeadHolder(leaseHolder))
}

function backupRunning(message: string): AppError {
  return new AppError('conflict', 'backup_running', message)
}

/** The backup has no file, or not the whole one. */
export function missingFile({ id, status }: DataBackup): AppError {
  const reason =
    status === 'completed'
      ? 'its file is missing or was changed; delete the backup'
      : `it is ${status}, and only a completed backup has a file`
  return new AppError('not_found', 'backup_file_not_found', `The backup ${id} has no file: ${reason}.`)
}

const ALERT = {
  alarmId: declaredAlarmId(DATA_BACKUP_ALERTS, 'data.backup.failed'),
  source: 'platform.data',
  title: 'The data backup has failed',
} as const
