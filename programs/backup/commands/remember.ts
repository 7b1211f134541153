import type { BackupState } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import { withAwaitedRunLock } from './lock.ts'

/** Changes the state beside a run; a state that cannot be changed is a warning, which names `what` it does not have. */
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
