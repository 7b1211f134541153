import type { BackupState } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import { withAwaitedRunLock } from './lock.ts'

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
