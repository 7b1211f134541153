import type {
  SnapshotContents,
  SnapshotSteps,
  DatabaseContents,
  RestoredDatabase,
} from '../../ports/database-files.ts'
import { snapshotDamaged } from '../files/restore-target.ts'
import { runPostgresProgram, findNewestPostgresProgram } from './postgres-programs.ts'
import { RowSetHash } from '../copy/raw-database.ts'

const LEDGER = 'schema_migrations'

/** Counts the rows of the tables of an archive, and reads all its data: the list alone would not show damaged data. */
export async function verifyArchive(
  path: string,
  options: SnapshotSteps,
): Promise<Partial<SnapshotContents>> {
  await listArchive(path, options)
  const { rows, firstColumn } = await readArchiveData(path, options)
  const schemaVersion = firstColumn.toSorted().at(-1)
  return { tables: rows, ...(schemaVersion !== undefined && { schemaVersion }) }
}

/** The entries in the list of an archive, as `pg_restore` prints them. */
export async function listArchive(path: string, options: SnapshotSteps = {}): Promise<string[]> {
  let text = ''
  await runRestore(['--list', path], (chunk) => (text += chunk.toString('utf8')), { path, ...options })
  return text.split('\n').filter((line) => /^\d+;/.test(line))
}

/** Reads all data of an archive. The first column is that of the list of migrations. */
async function readArchiveData(
  path: string,
  options: SnapshotSteps,
  listener?: CopyListener,
): Promise<Pick<CopySections, 'rows' | 'firstColumn'>> {
  const sections = new CopySections(LEDGER, listener)
  const args = ['--data-only', '--file=-', path]
  await runRestore(args, (chunk) => sections.push(chunk), { path, ...options })
  return sections
}

async function runRestore(
  args: readonly string[],
  onData: (chunk: Buffer) => void,
  { path, signal }: SnapshotSteps & { readonly path: string },
): Promise<void> {
  const program = await findNewestPostgresProgram('pg_restore')
  try {
    await runPostgresProgram(program, args, { onData, signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}

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

const NEWLINE = 0x0a
const COPY = /^COPY (?:"?[^".]+"?\.)?"?([^" (]+)"? \((.*)\) FROM stdin;$/
const END_OF_COPY = '\\.'
// Longer lines outside of the data are no `COPY`.
const LONGEST_COPY = 16_384

/** Takes what a script contains: each table with its columns, then each of its rows as a line. */
interface CopyListener {
  table(name: string, columns: string): void
  row(name: string, line: Uint8Array): void
}

/**
 * Counts the rows of each table in the script that `pg_restore` writes: in a `COPY` section each line is a row, because a
 * line break in a value is escaped (PostgreSQL, COPY, text format).
 */
export class CopySections {
  readonly rows: Record<string, number> = {}
  readonly #firstColumnOf: string
  readonly #firstColumn: string[] = []
  readonly #listener: CopyListener | undefined
  #rest: Buffer = Buffer.alloc(0)
  #table: string | undefined

  /** Keeps the first column of the rows of that table. */
  constructor(firstColumnOf: string, listener?: CopyListener) {
    this.#firstColumnOf = firstColumnOf
    this.#listener = listener
  }

  get firstColumn(): readonly string[] {
    return this.#firstColumn
  }

  push(chunk: Buffer): void {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let start = 0
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      this.#line(data, start, end)
      start = end + 1
    }
    this.#rest = data.subarray(start)
  }

  #line(data: Buffer, start: number, end: number): void {
    if (this.#table === undefined) return this.#begin(data, start, end)
    if (end - start === END_OF_COPY.length && data.toString('latin1', start, end) === END_OF_COPY) {
      this.#table = undefined
      return
    }
    this.rows[this.#table] = (this.rows[this.#table] ?? 0) + 1
    this.#listener?.row(this.#table, data.subarray(start, end))
    if (this.#table === this.#firstColumnOf)
      this.#firstColumn.push(data.toString('utf8', start, end).split('\t', 1)[0] ?? '')
  }

  #begin(data: Buffer, start: number, end: number): void {
    if (end - start > LONGEST_COPY) return
    const [, table, columns = ''] = COPY.exec(data.toString('utf8', start, end)) ?? []
    if (table === undefined) return
    this.#table = table
    this.rows[table] = 0
    this.#listener?.table(table, columns)
  }
}
