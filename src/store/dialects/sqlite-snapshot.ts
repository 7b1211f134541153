import { CompiledQuery } from 'kysely'
import type {
  SnapshotContents,
  SnapshotSteps,
  DatabaseContents,
  DatabaseFinding,
  RestoredDatabase,
} from '../../ports/database-files.ts'
import { snapshotDamaged } from '../files/restore-target.ts'
import { identifier } from './sqlite-columns.ts'
import { ReaderThread, hashTablesInThread } from './sqlite-threads.ts'

const TABLES = `select name from sqlite_schema where type = 'table' and name not like 'sqlite^_%' escape '^'`
const LEDGER = 'schema_migrations'

/** A file that nobody writes to. It is read in the background, in one thread. */
class SnapshotFile {
  readonly path: string
  readonly signal: AbortSignal | undefined
  readonly #thread: ReaderThread

  constructor(path: string, { signal }: SnapshotSteps) {
    this.path = path
    this.signal = signal
    this.#thread = new ReaderThread(path, { inBackground: true })
  }

  /** Rejects with `snapshot_damaged`. */
  async read<R>(query: string): Promise<R[]> {
    try {
      return await this.#thread.read<R>(CompiledQuery.raw(query), this.signal)
    } catch (error) {
      this.signal?.throwIfAborted()
      throw snapshotDamaged(this.path, error)
    }
  }
}

/** Checks the integrity and the references of a SQLite file, and counts the rows of its tables. */
export async function verifySqlite(path: string, options: SnapshotSteps): Promise<Partial<SnapshotContents>> {
  const file = new SnapshotFile(path, options)
  await requireIntegrity(file)
  await requireReferences(file)
  const tables = await countRows(file)
  const schemaVersion = await readSchemaVersion(file)
  return tables[LEDGER] === undefined ? {} : { tables, ...(schemaVersion && { schemaVersion }) }
}

async function requireIntegrity(file: SnapshotFile): Promise<void> {
  const [row] = await file.read<{ integrity_check: string }>('pragma integrity_check(1)')
  if (row?.integrity_check !== 'ok') throw snapshotDamaged(file.path, row?.integrity_check ?? 'no result')
}

async function requireReferences(file: SnapshotFile): Promise<void> {
  const query = 'select "table", parent from pragma_foreign_key_check limit 1'
  for (const { table, parent } of await file.read<{ table: string; parent: string }>(query))
    throw snapshotDamaged(file.path, `a row of ${table} refers to a row of ${parent} that is missing`)
}

/** The number of rows of each table. */
async function countRows(file: SnapshotFile): Promise<Record<string, number>> {
  const names = (await file.read<{ name: string }>(TABLES)).map(({ name }) => name)
  if (names.length === 0) return {}
  const counts = await file.read<{ name: string; rows: number }>(countsOf(names))
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]))
}

function countsOf(names: readonly string[]): string {
  const counts = names.map(
    (name) => `select ${literal(name)} as name, (select count(*) from ${identifier(name)}) as rows`,
  )
  return counts.join(' union all ')
}

/** The last migration; undefined when there is none. */
async function readSchemaVersion(file: SnapshotFile): Promise<string | undefined> {
  const isListed = `${TABLES} and name = '${LEDGER}'`
  if ((await file.read(isListed)).length === 0) return undefined
  const [last] = await file.read<{ name: string | null }>(`select max(name) as name from ${LEDGER}`)
  return last?.name ?? undefined
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

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
