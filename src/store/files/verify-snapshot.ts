import { open } from 'node:fs/promises'
import type { SnapshotContents, SnapshotSteps } from '../../ports/database-files.ts'
import { snapshotDamaged } from './restore-target.ts'

type Verify = (path: string, options: SnapshotSteps) => Promise<Partial<SnapshotContents>>

interface SnapshotFormat {
  /** How a file of this format begins. */
  readonly magic: string
  readonly verify: () => Promise<Verify>
}

/** The formats of snapshots, each with the module that reads it. */
const FORMATS = {
  sqlite: {
    magic: 'SQLite format 3\0',
    verify: async () => (await import('../dialects/sqlite-snapshot.ts')).verifySqlite,
  },
  postgres: {
    magic: 'PGDMP',
    verify: async () => (await import('../dialects/postgres-archive.ts')).verifyArchive,
  },
} as const satisfies Record<string, SnapshotFormat>

/** The engine whose snapshot a file is. */
export type SnapshotFormatName = keyof typeof FORMATS

const LONGEST_MAGIC = 16

/**
 * Reads a snapshot of any engine and checks it: integrity and references of a SQLite file, every part of an archive.
 * Rejects with `snapshot_damaged`, whose message says what is wrong.
 */
export async function verifySnapshot(path: string, options: SnapshotSteps = {}): Promise<SnapshotContents> {
  const format = await snapshotFormat(path)
  const verify = await FORMATS[format].verify()
  const { tables, schemaVersion } = await verify(path, options)
  if (!tables || schemaVersion === undefined)
    throw snapshotDamaged(path, 'it has no table schema_migrations, so it is no database of the platform')
  return { tables, schemaVersion }
}

/** The format of a file by its first bytes. Rejects with `snapshot_damaged` if it is none of a snapshot. */
export async function snapshotFormat(path: string): Promise<SnapshotFormatName> {
  const begin = await readBegin(path)
  const names = Object.keys(FORMATS) as SnapshotFormatName[]
  const name = names.find((each) => begin.startsWith(FORMATS[each].magic))
  if (name) return name
  throw snapshotDamaged(path, 'it is neither a SQLite file nor an archive of pg_dump')
}

async function readBegin(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(LONGEST_MAGIC) })
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
