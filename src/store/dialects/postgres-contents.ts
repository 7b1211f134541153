import type { DatabaseContents, RestoredDatabase, SnapshotSteps } from '../../ports/database-files.ts'
import { RowSetHash } from '../copy/raw-database.ts'
import { listArchive, readArchiveData } from './postgres-verify.ts'

/** Reads every row of an archive of `pg_dump` with `pg_restore`, which needs no server. */
export async function inspectArchive(path: string, options: SnapshotSteps): Promise<DatabaseContents> {
  const tables = new Map<string, { readonly columns: string; readonly hash: RowSetHash }>()
  const { firstColumn } = await readArchiveData(path, options, {
    table: (name, columns) => void tables.set(name, { columns, hash: new RowSetHash() }),
    row: (name, line) => tables.get(name)?.hash.add(line),
  })
  const summaries = [...tables].map(([name, { columns, hash }]) => [
    name,
    { rows: hash.rows, hash: hash.digest(columns) },
  ])
  const schemaVersion = firstColumn.toSorted().at(-1) ?? ''
  return { schemaVersion, tables: Object.fromEntries(summaries) as DatabaseContents['tables'] }
}

/** A restored archive. It is read once for all checks. */
export function restoredArchive(path: string, options: SnapshotSteps): RestoredDatabase {
  let reading: Promise<DatabaseContents> | undefined
  const contents = () => (reading ??= inspectArchive(path, options))
  return {
    async opens() {
      const entries = await listArchive(path, options)
      return { detail: `an archive of pg_dump with ${entries.length} entries`, isPossible: true }
    },
    async integrity() {
      await contents()
      return { detail: 'pg_restore has read all data of the archive', isPossible: true }
    },
    foreignKeys: async () => ({
      detail:
        'not possible for an archive of pg_dump: a server checks references when it restores the archive',
      isPossible: false,
    }),
    async rowCounts() {
      const { tables } = await contents()
      return Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]))
    },
    contents,
  }
}
