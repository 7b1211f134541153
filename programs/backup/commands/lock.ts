import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../../src/kernel/errors.ts'
import { MINUTE, SECOND } from '../../../src/kernel/time.ts'
import type { Config } from '../../../src/config/config.ts'
import { takeProcessLock } from '../../files/process-lock.ts'
import { placesOf, type BackupParts, type BackupRuntime } from '../parts.ts'
import type { BackupState } from '../night/state.ts'

const LOCK_HELD = 'backup_running'

/** Whether {@link withRunLock} has thrown because another process has the lock. */
export function isLockHeld(error: unknown): error is AppError {
  return error instanceof AppError && error.code === LOCK_HELD
}

/** Runs `work` as the only run on this server. Throws `backup_running`, which names the process that has the lock. */
export async function withRunLock<T>(
  { config }: Pick<BackupParts, 'config'>,
  work: () => Promise<T>,
): Promise<T> {
  const path = placesOf(config).lock
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = takeProcessLock(path)
  if (typeof lock !== 'function')
    throw new AppError(
      'conflict',
      LOCK_HELD,
      `Another run of the backup has the lock: process ${lock.heldBy}. Wait until it has ended.`,
    )
  try {
    return await work()
  } finally {
    lock()
  }
}

const LONGEST_WAIT_MS = 5 * MINUTE

/** Runs `work` as the only change of the state; waits some minutes for another run to end. */
export async function withAwaitedRunLock<T>(
  parts: { readonly config: Config; readonly runtime: Pick<BackupRuntime, 'clock' | 'signal'> },
  work: () => Promise<T>,
): Promise<T> {
  const { clock, signal } = parts.runtime
  const giveUpAt = clock.monotonic() + LONGEST_WAIT_MS
  for (;;) {
    try {
      return await withRunLock(parts, work)
    } catch (error) {
      if (!isLockHeld(error) || clock.monotonic() >= giveUpAt || signal?.aborted) throw error
      await clock.wait(SECOND, signal)
    }
  }
}

/**
 * Changes the state while another run may have the lock. If that fails, it logs a warning, in which `what` names the
 * missing part.
 */
export async function remember(
  parts: BackupParts,
  what: string,
  change: (state: BackupState) => BackupState,
): Promise<void> {
  const { state, logger } = parts
  await withAwaitedRunLock(parts, async () => state.write(change(state.read()))).catch((error: unknown) =>
    logger.warn({ error }, `${what} is not in the state`),
  )
}
