import { errorMessage } from '../../kernel/errors.ts'
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

interface BackupWorkerOptions extends Pick<
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
export function backupRunner(options: BackupWorkerOptions): Runner<BackupWork, BackupResult> {
  return new Runner<BackupWork, BackupResult>({
    ...options,
    name: 'data-backups',
    everyMs: LOOK_EVERY_MS,
    leaseMs: LEASE_MS,
    concurrency: 1,
    retry: RETRY,
    claim: claimBackup,
    renew: (tx, backup, lease) => backupQueue.renew(tx, backup, lease),
    work: (backup, signal) => makeBackup(options, backup, signal),
    settle: (tx, backup, holder, outcome) => settleBackup(options, tx, backup, holder, outcome),
  })
}

async function makeBackup(
  options: BackupWorkerOptions,
  backup: BackupWork,
  signal: AbortSignal,
): Promise<BackupResult> {
  const { files } = options
  const { id, attempts, isPlaced } = backup
  try {
    if (attempts === 1) return { status: 'completed', contents: await writeBackup(options, backup, signal) }
    // The process of the first attempt has ended, and may have left a file.
    await (isPlaced ? files.remove(id) : files.removeUnplaced(id))
    return { status: 'failed', error: INTERRUPTED }
  } catch (error) {
    await files.remove(id)
    // The runner has stopped, or has lost the lease.
    signal.throwIfAborted()
    return { status: 'failed', error: errorMessage(error).slice(0, ERROR_CHARACTERS) }
  }
}

async function writeBackup(
  { clock, files, snapshots, store }: BackupWorkerOptions,
  backup: BackupWork,
  signal: AbortSignal,
): Promise<BackupContents> {
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

async function settleBackup(
  { files, finish, logger }: BackupWorkerOptions,
  tx: Tx,
  backup: BackupWork,
  holder: string,
  outcome: WorkOutcome<BackupResult>,
): Promise<boolean> {
  if (!(await backupQueue.release(tx, backup, { holder, dueAt: null }))) {
    const { id } = backup
    const warn = (error: unknown) =>
      logger.warn({ backup_id: id, error }, 'the file of an interrupted backup cannot be removed yet')
    // Another process has recorded the backup as interrupted.
    tx.afterCommit(() => void files.remove(id).catch(warn))
    return false
  }
  const interrupted = { status: 'failed', error: INTERRUPTED } as const
  await finish(tx, backup, outcome.status === 'done' ? outcome.result : interrupted)
  return true
}

async function claimBackup(tx: Tx, request: WorkClaim): Promise<BackupWork[]> {
  const running = await findRunningLease(tx)
  if (!running) return []
  if (running.leaseHolder !== null && isDeadHolder(running.leaseHolder))
    await expireLease(tx, running, request.now)
  return backupQueue.claim(tx, request)
}
