import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { SnapshotContents, SnapshotSteps } from '../../ports/snapshots.ts'
import { CopySections } from '../copy-sections.ts'
import { snapshotDamaged } from '../snapshot-damaged.ts'
import { lowerPriority } from '../background-priority.ts'
import { findNewestPostgresProgram } from './postgres-programs.ts'

const LEDGER = 'schema_migrations'
const ERROR_LENGTH = 1_000

/**
 * Reads the list of an archive and all its data with `pg_restore`, and counts the rows of its tables. The list alone would
 * not show damaged data.
 */
export async function verifyArchive(
  path: string,
  { signal }: SnapshotSteps,
): Promise<Partial<SnapshotContents>> {
  const program = await findNewestPostgresProgram('pg_restore')
  const sections = new CopySections(LEDGER)
  await readArchive(program, ['--list', path], () => undefined, { path, signal })
  await readArchive(program, ['--data-only', '--file=-', path], (chunk) => sections.push(chunk), {
    path,
    signal,
  })
  const schemaVersion = sections.firstColumn.toSorted().at(-1)
  return { tables: sections.rows, ...(schemaVersion !== undefined && { schemaVersion }) }
}

async function readArchive(
  program: string,
  args: readonly string[],
  onData: (chunk: Buffer) => void,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(signal && { signal }) })
  child.once('spawn', () => lowerPriority(child.pid))
  child.stdout.on('data', onData)
  const errors = textOf(child.stderr)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(errors().trim().slice(0, ERROR_LENGTH) || `pg_restore ended with ${code}`)
  } catch (error) {
    signal?.throwIfAborted()
    throw snapshotDamaged(path, error)
  }
}

function textOf(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  return () => text
}
