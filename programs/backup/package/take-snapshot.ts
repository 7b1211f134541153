import { errorMessage } from '../../../src/kernel/errors.ts'
import type { CopiedDatabase, DatabaseContents, DatabaseFiles } from '../../../src/ports/database-files.ts'
import type { SnapshotSteps } from '../../../src/ports/snapshots.ts'
import { BackupError } from '../errors.ts'

/** A copy of the database in a file. */
export interface DatabaseSnapshot extends DatabaseContents, CopiedDatabase {
  readonly file: string
}

/** Makes a snapshot, and reads it. Throws `no_space` or `snapshot_failed`. */
export async function takeSnapshot(
  files: Pick<DatabaseFiles, 'snapshot' | 'inspect'>,
  target: string,
  options: SnapshotSteps = {},
): Promise<DatabaseSnapshot> {
  try {
    const written = await files.snapshot(target, options)
    return { file: target, ...written, ...(await files.inspect(target, options)) }
  } catch (error) {
    throw snapshotFailure(error)
  }
}

// The messages of the system, of SQLite and of pg_dump.
const NO_SPACE = /\b(?:ENOSPC|EDQUOT)\b|no space left|disk is full/i

function snapshotFailure(error: unknown): BackupError {
  const message = errorMessage(error)
  const code = NO_SPACE.test(message) ? 'no_space' : 'snapshot_failed'
  return new BackupError(code, `The database was not copied: ${message}`, { cause: error })
}
