import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../../src/kernel/errors.ts'
import { placesOf, type BackupParts } from '../parts.ts'
import { takeProcessLock } from '../process-lock.ts'

/** The code of the error of {@link withRunLock}. */
export const LOCK_HELD = 'backup_running'

/** Runs `work` as the only run on this server. Throws `backup_running`, which names the process that has the lock. */
export async function withRunLock<T>(
  { config }: Pick<BackupParts, 'config'>,
  work: () => Promise<T>,
): Promise<T> {
  const path = placesOf(config).lock
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = takeProcessLock(path)
  if ('heldBy' in lock)
    throw new AppError(
      'conflict',
      LOCK_HELD,
      `Another run of the backup has the lock: process ${lock.heldBy}. Wait until it has ended.`,
    )
  using _held = lock
  return await work()
}
