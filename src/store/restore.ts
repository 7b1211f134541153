import { AppError } from '../kernel/errors.ts'
import type { DatabaseAddress } from './open.ts'
import { snapshotFormat, type SnapshotFormatName } from './verify-snapshot.ts'

export interface Restored {
  /** What the former database is kept as; undefined if there was none. */
  readonly former: string | undefined
}

/** Replaces a database by a snapshot. */
export interface RestoreTarget {
  /** Rejects with `database_in_use` while another process serves the database. */
  requireUnserved(): Promise<void>
  /**
   * Replaces the database as a whole or not at all. `sha256`: of the file, as it was verified. `stamp`: part of the name
   * of the former database.
   */
  replace(snapshot: { readonly path: string; readonly sha256: string }, stamp: string): Promise<Restored>
}

/** The restoration of the database at that address. */
export async function restoreTarget(database: DatabaseAddress): Promise<RestoreTarget> {
  if (database.kind === 'sqlite') {
    const { sqliteRestore } = await import('./dialects/sqlite-restore.ts')
    return sqliteRestore(database.path)
  }
  const { postgresRestore } = await import('./dialects/postgres-restore.ts')
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

export function databaseInUse(what: string): AppError {
  return new AppError(
    'conflict',
    'database_in_use',
    `${what} is in use by another process; stop every platform that serves it, then repeat the command.`,
  )
}
