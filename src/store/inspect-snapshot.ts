import type { DatabaseContents, RestoredDatabase } from '../ports/database-files.ts'
import type { SnapshotSteps } from '../ports/snapshots.ts'
import { snapshotFormat, type SnapshotFormatName } from './verify-snapshot.ts'

interface FileReader {
  readonly inspect: (path: string, options: SnapshotSteps) => Promise<DatabaseContents>
  readonly restored: (path: string, options: SnapshotSteps) => RestoredDatabase
}

/** What reads the files of each format. */
const READERS: Readonly<Record<SnapshotFormatName, () => Promise<FileReader>>> = {
  async sqlite() {
    const { inspectSqlite, restoredSqlite } = await import('./dialects/sqlite-contents.ts')
    return { inspect: inspectSqlite, restored: restoredSqlite }
  },
  async postgres() {
    const { inspectArchive, restoredArchive } = await import('./dialects/postgres-contents.ts')
    return { inspect: inspectArchive, restored: restoredArchive }
  },
}

/** Reads a snapshot of any engine from its beginning to its end. Rejects with `snapshot_damaged`. */
export async function inspectSnapshot(path: string, options: SnapshotSteps = {}): Promise<DatabaseContents> {
  const { inspect } = await READERS[await snapshotFormat(path)]()
  return inspect(path, options)
}

/** The checks of a restored file of any engine. Nothing but this file is opened. */
export function restoredFile(path: string, options: SnapshotSteps = {}): RestoredDatabase {
  let opening: Promise<RestoredDatabase> | undefined
  const file = () => (opening ??= openRestored(path, options))
  return {
    opens: async () => (await file()).opens(),
    integrity: async () => (await file()).integrity(),
    foreignKeys: async () => (await file()).foreignKeys(),
    rowCounts: async () => (await file()).rowCounts(),
    contents: async () => (await file()).contents(),
  }
}

async function openRestored(path: string, options: SnapshotSteps): Promise<RestoredDatabase> {
  const { restored } = await READERS[await snapshotFormat(path)]()
  return restored(path, options)
}
