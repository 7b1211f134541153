/** The rows of a table. */
export interface TableContents {
  readonly rows: number
  /**
   * Hash of the columns and values, as 64 hexadecimal digits. It does not depend on where the engine keeps them.
   */
  readonly hash: string
}

/** What a copy of the database contains. */
export interface DatabaseContents {
  /** The last migration; empty when the database has no list of migrations. */
  readonly schemaVersion: string
  /** By the name of the table. */
  readonly tables: Readonly<Record<string, TableContents>>
}

/** The result of a check of a restored file. */
export interface DatabaseFinding {
  /** In one sentence. */
  readonly detail: string
  /** Whether a file of this format allows the check; without it the detail says why not. */
  readonly isPossible: boolean
}

/**
 * The checks of a restored file. Each rejects with `snapshot_damaged`, whose message says what is wrong. Only this file is
 * opened, for reading; a check may be repeated.
 */
export interface RestoredDatabase {
  opens(): Promise<DatabaseFinding>
  integrity(): Promise<DatabaseFinding>
  foreignKeys(): Promise<DatabaseFinding>
  /** The number of rows of each table. */
  rowCounts(): Promise<Readonly<Record<string, number>>>
  contents(): Promise<DatabaseContents>
}

/** A file with a copy of the database. */
export interface CopiedDatabase {
  /** Bytes. */
  readonly size: number
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string
}

/** The database in files, for a program that has no access to the database itself. */
export interface DatabaseFiles {
  /** The name of a snapshot in a package, by its format. */
  readonly packagedAs: `database/${string}`
  /** The size of the database in bytes; a snapshot is hardly larger. */
  databaseBytes(): Promise<number>
  /** Writes a consistent copy of the database, while others read and write it, and hashes the file. */
  snapshot(target: string, options?: SnapshotSteps): Promise<CopiedDatabase>
  /** Reads a snapshot from its beginning to its end, with bounded memory. Rejects with `snapshot_damaged`. */
  inspect(file: string, options?: SnapshotSteps): Promise<DatabaseContents>
  /** The restored file, of any engine. Nothing is opened before the first check. */
  restoredDatabase(file: string, options?: SnapshotSteps): RestoredDatabase
}

/** What a complete snapshot contains. */
export interface SnapshotContents {
  /** The number of rows of each table. */
  readonly tables: Readonly<Record<string, number>>
  /** The name of its last migration. */
  readonly schemaVersion: string
}

/** A snapshot whose file was read from its beginning to its end. */
export interface VerifiedSnapshot extends SnapshotContents {
  /** SHA-256 of the file, as 64 hexadecimal digits. */
  readonly sha256: string
  readonly sizeBytes: number
}

export interface SnapshotSteps {
  /** Ends the step early; it leaves no file then. */
  readonly signal?: AbortSignal | undefined
}

/** Snapshots of the database in files; the work runs beside the event loop. */
export interface Snapshots {
  /** Extension of the file names, by their format: a SQLite file, or an archive for `pg_restore`. */
  readonly extension: 'db' | 'dump'
  /** The size of the database; a snapshot is hardly larger. */
  databaseBytes(): Promise<number>
  /**
   * Writes a consistent copy of the database to that path, while reads and writes go on. The file appears when it is
   * complete and on the disk, and only its owner can read it.
   */
  write(path: string, options: SnapshotSteps): Promise<void>
  /** Reads the whole file and checks it. Rejects with `snapshot_damaged`, whose message says what is wrong. */
  verify(path: string, options: SnapshotSteps): Promise<VerifiedSnapshot>
}
