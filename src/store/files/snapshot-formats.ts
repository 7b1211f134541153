import { open } from 'node:fs/promises'
import { AppError } from '../../kernel/errors.ts'
import type {
  DatabaseContents,
  RestoredDatabase,
  SnapshotContents,
  SnapshotSteps,
} from '../../ports/database-files.ts'
import type { DialectName } from '../dialects/capabilities.ts'
import { snapshotDamaged } from './restore-target.ts'

interface SnapshotFormat {
  readonly title: string
  /** How a file of this format begins. */
  readonly magic: string
  readonly load: () => Promise<SnapshotReader>
}

/** What reads the files of a format. */
interface SnapshotReader {
  readonly verify: (path: string, options: SnapshotSteps) => Promise<Partial<SnapshotContents>>
  readonly inspect: (path: string, options: SnapshotSteps) => Promise<DatabaseContents>
  readonly restored: (path: string, options: SnapshotSteps) => RestoredDatabase
}

/** The formats of snapshots by their engines; only the module of one is loaded. */
const FORMATS: Readonly<Record<DialectName, SnapshotFormat>> = {
  sqlite: {
    title: 'a SQLite file',
    magic: 'SQLite format 3\0',
    async load() {
      const { inspectSqlite, restoredSqlite, verifySqlite } = await import('../dialects/sqlite-snapshot.ts')
      return { verify: verifySqlite, inspect: inspectSqlite, restored: restoredSqlite }
    },
  },
  postgres: {
    title: 'an archive of PostgreSQL',
    magic: 'PGDMP',
    async load() {
      const { inspectArchive, restoredArchive, verifyArchive } =
        await import('../dialects/postgres-archive.ts')
      return { verify: verifyArchive, inspect: inspectArchive, restored: restoredArchive }
    },
  },
}

/**
 * Reads a snapshot of any engine and checks it: integrity and references of a SQLite file, every part of an archive.
 * Rejects with `snapshot_damaged`, whose message says what is wrong.
 */
export async function verifySnapshot(path: string, options: SnapshotSteps = {}): Promise<SnapshotContents> {
  const { verify } = await readerOf(path)
  const { tables, schemaVersion } = await verify(path, options)
  if (!tables || schemaVersion === undefined)
    throw snapshotDamaged(path, 'it has no table schema_migrations, so it is no database of the platform')
  return { tables, schemaVersion }
}

/** Reads a snapshot of any engine from its beginning to its end. Rejects with `snapshot_damaged`. */
export async function inspectSnapshot(path: string, options: SnapshotSteps = {}): Promise<DatabaseContents> {
  const { inspect } = await readerOf(path)
  return inspect(path, options)
}

/** The checks of a restored file of any engine. Nothing but this file is opened. */
export function restoredFile(path: string, options: SnapshotSteps = {}): RestoredDatabase {
  let opening: Promise<RestoredDatabase> | undefined
  const file = () => (opening ??= readerOf(path).then(({ restored }) => restored(path, options)))
  return {
    opens: async () => (await file()).opens(),
    integrity: async () => (await file()).integrity(),
    foreignKeys: async () => (await file()).foreignKeys(),
    rowCounts: async () => (await file()).rowCounts(),
    contents: async () => (await file()).contents(),
  }
}

/** Rejects with `wrong_format` unless a snapshot in that file can be restored to that database. */
export async function requireFormat(path: string, kind: DialectName): Promise<void> {
  const format = await snapshotFormat(path)
  if (format === kind) return
  const message = `The file ${path} is ${FORMATS[format].title}, and database.url names a database of the other kind.`
  throw new AppError('conflict', 'wrong_format', message)
}

async function readerOf(path: string): Promise<SnapshotReader> {
  return FORMATS[await snapshotFormat(path)].load()
}

const LONGEST_MAGIC = 16

/** The engine whose snapshot a file is, by its first bytes. Rejects with `snapshot_damaged` if it is none. */
async function snapshotFormat(path: string): Promise<DialectName> {
  const begin = await readBegin(path)
  const kinds = Object.keys(FORMATS) as DialectName[]
  const kind = kinds.find((candidate) => begin.startsWith(FORMATS[candidate].magic))
  if (kind) return kind
  throw snapshotDamaged(path, 'it is neither a SQLite file nor an archive of pg_dump')
}

async function readBegin(path: string): Promise<string> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(LONGEST_MAGIC) })
  return buffer.toString('latin1', 0, bytesRead)
}
