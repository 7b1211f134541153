import type { DatabaseContents, DatabaseFinding, RestoredDatabase } from '../../ports/database-files.ts'
import type { SnapshotSteps } from '../../ports/snapshots.ts'
import { snapshotDamaged } from '../snapshot-damaged.ts'
import { hashTablesInThread } from './sqlite-threads.ts'
import {
  countRows,
  readSchemaVersion,
  readSnapshot,
  requireIntegrity,
  requireReferences,
} from './sqlite-verify.ts'

/** Reads every row of a SQLite file, with bounded memory. */
export async function inspectSqlite(path: string, options: SnapshotSteps): Promise<DatabaseContents> {
  const schemaVersion = (await readSchemaVersion(path, options)) ?? ''
  try {
    return { schemaVersion, tables: await hashTablesInThread(path, options.signal) }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}

const finding = (detail: string): DatabaseFinding => ({ detail, isPossible: true })

/** A restored SQLite file. Each check opens this file read-only on a thread of its own. */
export function restoredSqlite(path: string, options: SnapshotSteps): RestoredDatabase {
  return {
    async opens() {
      const [row] = await readSnapshot<{ pages: number; size: number }>(path, PAGES, options)
      return finding(`a SQLite file of ${row?.pages ?? 0} pages of ${row?.size ?? 0} bytes`)
    },
    async integrity() {
      await requireIntegrity(path, options)
      return finding('the integrity check of SQLite found nothing wrong')
    },
    async foreignKeys() {
      await requireReferences(path, options)
      return finding('every reference leads to a row')
    },
    rowCounts: () => countRows(path, options),
    contents: () => inspectSqlite(path, options),
  }
}

// The first reads the schema, which a damaged first page does not allow.
const PAGES = `select (select count(*) from sqlite_schema), page_count as pages, page_size as size
  from pragma_page_count, pragma_page_size`
