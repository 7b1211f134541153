import type { SnapshotContents, SnapshotSteps } from '../../ports/database-files.ts'
import { CopySections, type CopyListener } from '../copy/copy-sections.ts'
import { snapshotDamaged } from '../files/restore-target.ts'
import { runPostgresProgram, findNewestPostgresProgram } from './postgres-programs.ts'

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
export async function readArchiveData(
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
