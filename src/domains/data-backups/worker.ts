import { AppError, errorMessage } from '../../kernel/errors.ts'
import { DAY, SECOND } from '../../kernel/time.ts'
import type { Snapshots } from '../../ports/database-files.ts'
import { isDeadHolder } from '../../store/work/holder.ts'
import { Runner, type RunnerOptions, type WorkClaim, type WorkOutcome } from '../../store/work/runner.ts'
import type { Tx } from '../../store/store.ts'
import type { BackupFiles } from './files.ts'
import { INTERRUPTED, type BackupContents } from './model.ts'
import { backupQueue, expireLease, findRunningLease, markPlaced, type BackupWork } from './store.ts'

/** How an attempt has ended. */
export type BackupResult =
  | { readonly status: 'completed'; readonly contents: BackupContents }
  | { readonly status: 'failed'; readonly error: string }

export interface BackupWorkerOptions extends Pick<
  RunnerOptions<BackupWork, BackupResult>,
  'store' | 'clock' | 'logger' | 'metrics'
> {
  readonly snapshots: Snapshots
  readonly files: BackupFiles
  /** Records the end of a backup in the transaction that ends its lease. */
  readonly finish: (tx: Tx, backup: BackupWork, result: BackupResult) => Promise<void>
}

/** How often the worker looks for requests of other processes. */
const LOOK_EVERY_MS = SECOND
/**
 * After this time the backup of a process that does not respond is taken over; that of a dead process on the same host at
 * once.
 */
const LEASE_MS = 15 * SECOND
// A backup is not repeated: the attempt after the death of a process only records it.
const RETRY = { initialMs: SECOND, maximumMs: SECOND, giveUpAfterMs: 36_500 * DAY }
const ERROR_CHARACTERS = 1_000

/** Makes the backups that were requested, one at a time over all processes. */
export class BackupWorker {
  readonly #options: BackupWorkerOptions
  readonly #runner: Runner<BackupWork, BackupResult>

  constructor(options: BackupWorkerOptions) {
    const { store, clock, logger, metrics } = options
    this.#options = options
    this.#runner = new Runner<BackupWork, BackupResult>({
      name: 'data-backups',
      store,
      clock,
      logger,
      metrics,
      everyMs: LOOK_EVERY_MS,
      leaseMs: LEASE_MS,
      concurrency: 1,
      retry: RETRY,
      claim,
      renew: (tx, backup, lease) => backupQueue.renew(tx, backup, lease),
      work: (backup, signal) => this.#make(backup, signal),
      settle: (tx, backup, holder, outcome) => this.#settle(tx, backup, holder, outcome),
    })
  }

  start(): void {
    this.#runner.start()
  }

  /** Looks for a request at once. */
  wake(): void {
    this.#runner.wake()
  }

  /** Aborts the current backup, which fails as interrupted, and waits for its end; may be called twice. */
  stop(): Promise<void> {
    return this.#runner.stop()
  }

  async #make(backup: BackupWork, signal: AbortSignal): Promise<BackupResult> {
    const { files } = this.#options
    try {
      if (backup.attempts > 1) return await this.#recordInterruption(backup)
      return { status: 'completed', contents: await this.#write(backup, signal) }
    } catch (error) {
      await files.remove(backup.id)
      // The runner has stopped, or has lost the lease.
      signal.throwIfAborted()
      return { status: 'failed', error: reasonOf(error) }
    }
  }

  /** The process of the first attempt has ended, and may have left a file. */
  async #recordInterruption({ id, isPlaced }: BackupWork): Promise<BackupResult> {
    const { files } = this.#options
    await (isPlaced ? files.remove(id) : files.removeUnplaced(id))
    return { status: 'failed', error: INTERRUPTED }
  }

  async #write(backup: BackupWork, signal: AbortSignal): Promise<BackupContents> {
    const { clock, files, snapshots, store } = this.#options
    const { id } = backup
    const path = files.unplacedPathOf(id)
    await files.create()
    await snapshots.write(path, { signal })
    const contents = await snapshots.verify(path, { signal })
    const verifiedAt = clock.now()
    if (!(await store.write((tx) => markPlaced(tx, backup)))) throw new Error(INTERRUPTED)
    await files.place(id)
    signal.throwIfAborted()
    return { ...contents, verifiedAt }
  }

  async #settle(
    tx: Tx,
    backup: BackupWork,
    holder: string,
    outcome: WorkOutcome<BackupResult>,
  ): Promise<boolean> {
    const { finish } = this.#options
    if (!(await backupQueue.release(tx, backup, { holder, dueAt: null }))) {
      // Another process has recorded the backup as interrupted.
      tx.afterCommit(() => void this.#removeFile(backup))
      return false
    }
    const interrupted = { status: 'failed', error: INTERRUPTED } as const
    await finish(tx, backup, outcome.status === 'done' ? outcome.result : interrupted)
    return true
  }

  async #removeFile({ id }: BackupWork): Promise<void> {
    const { files, logger } = this.#options
    try {
      await files.remove(id)
    } catch (error) {
      logger.warn({ backup_id: id, error }, 'the file of an interrupted backup cannot be removed yet')
    }
  }
}

async function claim(tx: Tx, request: WorkClaim): Promise<BackupWork[]> {
  const running = await findRunningLease(tx)
  if (!running) return []
  if (running.leaseHolder !== null && isDeadHolder(running.leaseHolder))
    await expireLease(tx, running, request.now)
  return backupQueue.claim(tx, request)
}

function reasonOf(error: unknown): string {
  const message = error instanceof AppError ? error.message : errorMessage(error)
  return message.slice(0, ERROR_CHARACTERS)
}
