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
