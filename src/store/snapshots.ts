import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Snapshots } from '../ports/snapshots.ts'
import { hashFile } from './file-hash.ts'
import type { Store } from './store.ts'
import { verifySnapshot } from './verify-snapshot.ts'

/** The snapshots of an open database. */
export function createSnapshots(store: Store): Snapshots {
  const { databaseBytes, snapshotExtension } = store.capabilities
  return {
    extension: snapshotExtension,
    async databaseBytes() {
      const { rows } = await sql<{ bytes: number }>`select ${databaseBytes} as bytes`.execute(store.read.db)
      return rows[0]?.bytes ?? 0
    },
    write: (path, options) => store.snapshot(path, options),
    async verify(path, options) {
      const contents = await verifySnapshot(path, options)
      const sha256 = await hashFile(path, options.signal)
      return { ...contents, sha256, sizeBytes: (await stat(path)).size }
    },
  }
}
