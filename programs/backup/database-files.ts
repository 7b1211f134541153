import { errorMessage } from '../../src/kernel/errors.ts'
import { BackupError } from './errors.ts'
import type { TableSummary } from './package/manifest.ts'

/** What a copy of the database contains. */
export interface DatabaseContents {
  /** The last migration; empty when the database has no list of migrations. */
  readonly schemaVersion: string
  /**
   * The rows of each table and a hash of their content. The hash depends on the columns and values only, not on where the
   * engine keeps them.
   */
  readonly tables: Readonly<Record<string, TableSummary>>
}

/** A copy of the database in a file. */
export interface DatabaseSnapshot extends DatabaseContents {
  readonly file: string
  /** Bytes. */
  readonly size: number
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string
}

/** What a check of a restored database has found. */
export interface DatabaseFinding {
  /** In one sentence. */
  readonly detail: string
  /** Whether a file of this format allows the check; without it the detail says why not. */
  readonly isPossible: boolean
}

/** A restored file. Each check rejects with an error that says what is wrong. Only this file is opened, for reading. */
export interface RestoredDatabase {
  opens(): Promise<DatabaseFinding>
  integrity(): Promise<DatabaseFinding>
  foreignKeys(): Promise<DatabaseFinding>
  /** The number of rows of each table. */
  rowCounts(): Promise<Readonly<Record<string, number>>>
  contents(): Promise<DatabaseContents>
}

export interface DatabaseFileOptions {
  /** Ends the work early; it leaves no file then. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The database in files. Implemented for SQLite and PostgreSQL where the routine is put together, because a program has no
 * access to the database.
 */
export interface DatabaseFiles {
  /** The name of a snapshot in a package, by its format. */
  readonly packagedAs: `database/${string}`
  /** The size of the database in bytes; a snapshot is hardly larger. */
  databaseBytes(): Promise<number>
  /** Writes a consistent copy of the database, while others read and write it, and hashes the file. */
  snapshot(target: string, options?: DatabaseFileOptions): Promise<Pick<DatabaseSnapshot, 'size' | 'sha256'>>
  /** Reads a snapshot from its beginning to its end, with bounded memory. */
  inspect(file: string, options?: DatabaseFileOptions): Promise<DatabaseContents>
  /** The restored file, whichever engine it is of. */
  restored(file: string, options?: DatabaseFileOptions): RestoredDatabase
}

/** Makes a snapshot, and reads it. Throws `no_space` or `snapshot_failed`. */
export async function takeSnapshot(
  files: Pick<DatabaseFiles, 'snapshot' | 'inspect'>,
  target: string,
  options: DatabaseFileOptions = {},
): Promise<DatabaseSnapshot> {
  try {
    const written = await files.snapshot(target, options)
    return { file: target, ...written, ...(await files.inspect(target, options)) }
  } catch (error) {
    throw snapshotFailure(error)
  }
}

// The messages of the system, of SQLite and of pg_dump.
const NO_SPACE = /\b(?:ENOSPC|EDQUOT)\b|no space left|disk is full/i

function snapshotFailure(error: unknown): BackupError {
  const message = errorMessage(error)
  const code = NO_SPACE.test(message) ? 'no_space' : 'snapshot_failed'
  return new BackupError(code, `The database was not copied: ${message}`, { cause: error })
}
