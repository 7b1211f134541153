import { CompiledQuery } from 'kysely'
import type { SnapshotContents, SnapshotSteps } from '../../ports/snapshots.ts'
import { snapshotDamaged } from '../snapshot-damaged.ts'
import { readInThread } from './sqlite-threads.ts'

const TABLES = `select name from sqlite_schema where type = 'table' and name not like 'sqlite^_%' escape '^'`
const LEDGER = 'schema_migrations'

interface Check {
  readonly query: string
  /** What a row of the result says; undefined when it is no problem. */
  readonly problemOf: (row: Readonly<Record<string, unknown>>) => string | undefined
}

const CHECKS: readonly Check[] = [
  {
    query: 'pragma integrity_check(1)',
    problemOf: ({ integrity_check: result }) => (result === 'ok' ? undefined : String(result)),
  },
  {
    query: 'pragma foreign_key_check',
    problemOf: ({ table, parent }) =>
      `a row of ${String(table)} refers to a row of ${String(parent)} that is missing`,
  },
]

/** Checks the integrity and the references of a SQLite file, and counts the rows of its tables. */
export async function verifySqlite(
  path: string,
  { signal }: SnapshotSteps,
): Promise<Partial<SnapshotContents>> {
  const read = <R>(query: string) => readFile<R>(path, query, signal)
  for (const { query, problemOf } of CHECKS) {
    for (const row of await read<Record<string, unknown>>(query)) {
      const problem = problemOf(row)
      if (problem !== undefined) throw snapshotDamaged(path, problem)
    }
  }
  const names = (await read<{ name: string }>(TABLES)).map(({ name }) => name)
  if (!names.includes(LEDGER)) return {}
  const counts = await read<{ name: string; rows: number }>(countsOf(names))
  const [last] = await read<{ name: string }>(`select max(name) as name from ${LEDGER}`)
  return {
    tables: Object.fromEntries(counts.map(({ name, rows }) => [name, rows])),
    ...(last?.name && { schemaVersion: last.name }),
  }
}

function countsOf(names: readonly string[]): string {
  const counts = names.map(
    (name) => `select ${literal(name)} as name, (select count(*) from ${identifier(name)}) as rows`,
  )
  return counts.join(' union all ')
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
const identifier = (text: string) => `"${text.replaceAll('"', '""')}"`

async function readFile<R>(path: string, query: string, signal?: AbortSignal): Promise<R[]> {
  try {
    return await readInThread<R>(path, CompiledQuery.raw(query), { inBackground: true, signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}
