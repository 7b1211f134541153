import { AppError } from '../../kernel/errors.ts'
import type { DatabaseAddress } from '../open.ts'
import type { RestoreTarget } from './restore-target.ts'
import { snapshotFormat, type SnapshotFormatName } from './verify-snapshot.ts'

/** The restoration of the database at that address. */
export async function restoreTarget(database: DatabaseAddress): Promise<RestoreTarget> {
  if (database.kind === 'sqlite') {
    const { sqliteRestore } = await import('../dialects/sqlite-restore.ts')
    return sqliteRestore(database.path)
  }
  const { postgresRestore } = await import('../dialects/postgres-restore.ts')
  return postgresRestore(database.url)
}

const FORMAT_NAMES: Readonly<Record<SnapshotFormatName, string>> = {
  sqlite: 'a SQLite file',
  postgres: 'an archive of PostgreSQL',
}

/** Rejects with `wrong_format` unless a snapshot in that file can be restored to that database. */
export async function requireFormat(path: string, { kind }: DatabaseAddress): Promise<void> {
  const format = await snapshotFormat(path)
  if (format === kind) return
  const message = `The file ${path} is ${FORMAT_NAMES[format]}, and database.url names a database of the other kind.`
  throw new AppError('conflict', 'wrong_format', message)
}
