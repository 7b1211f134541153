import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { AppError } from '../../kernel/errors.ts'
import type { DatabaseFiles, SnapshotSteps } from '../../ports/database-files.ts'
import { CAPABILITIES } from '../../store/dialects/capabilities.ts'
import { hashFile } from '../../store/files/thread.ts'
import { inspectSnapshot, restoredFile } from '../../store/files/snapshot-formats.ts'
import { type DatabaseAddress, useStore } from '../../store/open.ts'
import { createSnapshots } from '../../store/files/snapshot.ts'
import type { Store } from '../../store/store.ts'

/**
 * The database at that address in files, for programs beside the platform. The database is opened for each call and only
 * read; a missing one is not created.
 */
export function databaseFiles(database: DatabaseAddress): DatabaseFiles {
  const extension = CAPABILITIES[database.kind].snapshotExtension
  return {
    packagedAs: `database/platform.${extension}`,
    databaseBytes: () => withReadOnlyStore(database, (store) => createSnapshots(store).databaseBytes()),
    async snapshot(target: string, options: SnapshotSteps = {}) {
      await withReadOnlyStore(database, (store) => store.snapshot(target, options))
      return { size: (await stat(target)).size, sha256: await hashFile(target, options.signal) }
    },
    inspect: inspectSnapshot,
    restoredDatabase: restoredFile,
  }
}

async function withReadOnlyStore<T>(
  database: DatabaseAddress,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  if (database.kind === 'sqlite' && !existsSync(database.path))
    throw new AppError('not_found', 'file_not_found', `There is no database ${database.path}.`)
  return useStore({ database, readOnly: true }, use)
}
