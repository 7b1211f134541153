import type {
  DatabaseContents,
  DatabaseFinding,
  RestoredDatabase,
  SnapshotSteps,
} from '../../ports/database-files.ts'
import { snapshotDamaged } from '../files/restore-target.ts'
import { hashTablesInThread } from './sqlite-threads.ts'
import {
  countRows,
  readSchemaVersion,
  requireIntegrity,
  requireReferences,
  SnapshotFile,
} from './sqlite-verify.ts'

/** Reads every row of a SQLite file, with bounded memory. */
export async function inspectSqlite(path: string, options: SnapshotSteps): Promise<DatabaseContents> {
  return inspect(new SnapshotFile(path, options))
}

async function inspect(file: SnapshotFile): Promise<DatabaseContents> {
  const { path, signal } = file
  const schemaVersion = (await readSchemaVersion(file)) ?? ''
  try {
    return { schemaVersion, tables: await hashTablesInThread(path, signal) }
  } catch (error) {
    signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}

const finding = (detail: string): DatabaseFinding => ({ detail, isPossible: true })

/** A restored SQLite file. Each check opens it read-only. */
export function restoredSqlite(path: string, options: SnapshotSteps): RestoredDatabase {
  const file = new SnapshotFile(path, options)
  return {
    async opens() {
      const [row] = await file.read<{ pages: number; size: number }>(PAGES)
      return finding(`a SQLite file of ${row?.pages ?? 0} pages of ${row?.size ?? 0} bytes`)
    },
    async integrity() {
      await requireIntegrity(file)
      return finding('the integrity check of SQLite found nothing wrong')
    },
    async foreignKeys() {
      await requireReferences(file)
      return finding('every reference leads to a row')
    },
    rowCounts: () => countRows(file),
    contents: () => inspect(file),
  }
}

// The first reads the schema, which a damaged first page does not allow.
const PAGES = `select (select count(*) from sqlite_schema), page_count as pages, page_size as size
  from pragma_page_count, pragma_page_size`
