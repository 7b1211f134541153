import { CompiledQuery } from 'kysely'
import type { SnapshotContents, SnapshotSteps } from '../../ports/snapshots.ts'
import { snapshotDamaged } from '../snapshot-damaged.ts'
import { identifier } from './sqlite-columns.ts'
import { readInThread } from './sqlite-threads.ts'

const TABLES = `select name from sqlite_schema where type = 'table' and name not like 'sqlite^_%' escape '^'`
const LEDGER = 'schema_migrations'

/** Checks the integrity and the references of a SQLite file, and counts the rows of its tables. */
export async function verifySqlite(path: string, options: SnapshotSteps): Promise<Partial<SnapshotContents>> {
  await requireIntegrity(path, options)
  await requireReferences(path, options)
  const tables = await countRows(path, options)
  const schemaVersion = await readSchemaVersion(path, options)
  return tables[LEDGER] === undefined ? {} : { tables, ...(schemaVersion && { schemaVersion }) }
}

export async function requireIntegrity(path: string, options: SnapshotSteps): Promise<void> {
  const query = 'pragma integrity_check(1)'
  const [row] = await readSnapshot<{ integrity_check: string }>(path, query, options)
  if (row?.integrity_check !== 'ok') throw snapshotDamaged(path, row?.integrity_check ?? 'no result')
}

export async function requireReferences(path: string, options: SnapshotSteps): Promise<void> {
  const query = 'select "table", parent from pragma_foreign_key_check limit 1'
  for (const { table, parent } of await readSnapshot<{ table: string; parent: string }>(path, query, options))
    throw snapshotDamaged(path, `a row of ${table} refers to a row of ${parent} that is missing`)
}

/** The number of rows of each table. */
export async function countRows(path: string, options: SnapshotSteps): Promise<Record<string, number>> {
  const names = (await readSnapshot<{ name: string }>(path, TABLES, options)).map(({ name }) => name)
  if (names.length === 0) return {}
  const counts = await readSnapshot<{ name: string; rows: number }>(path, countsOf(names), options)
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]))
}

function countsOf(names: readonly string[]): string {
  const counts = names.map(
    (name) => `select ${literal(name)} as name, (select count(*) from ${identifier(name)}) as rows`,
  )
  return counts.join(' union all ')
}

/** The last migration; undefined when there is none. */
export async function readSchemaVersion(path: string, options: SnapshotSteps): Promise<string | undefined> {
  const isListed = `${TABLES} and name = '${LEDGER}'`
  if ((await readSnapshot(path, isListed, options)).length === 0) return undefined
  const query = `select max(name) as name from ${LEDGER}`
  const [last] = await readSnapshot<{ name: string | null }>(path, query, options)
  return last?.name ?? undefined
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The rows of a query. Rejects with `snapshot_damaged`. */
export async function readSnapshot<R>(path: string, query: string, { signal }: SnapshotSteps): Promise<R[]> {
  try {
    return await readInThread<R>(path, CompiledQuery.raw(query), { inBackground: true, signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}
