import { errorMessage } from '../../../src/kernel/errors.ts'
import type {
  CopiedDatabase,
  DatabaseContents,
  DatabaseFiles,
  SnapshotSteps,
} from '../../../src/ports/database-files.ts'
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
    throw new BackupError('snapshot_failed', `The database was not copied: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}
