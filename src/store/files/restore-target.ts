import { AppError, errorMessage } from '../../kernel/errors.ts'
import type { Tx } from '../store.ts'

export interface Restored {
  /** What the former database is kept as; undefined if there was none. */
  readonly former: string | undefined
}

/** A verified snapshot, and what is changed in the restored database before any process serves it. */
export interface RestoredSnapshot {
  readonly path: string
  /** SHA-256 of the file, as it was verified. */
  readonly sha256: string
  readonly finish: (tx: Tx) => Promise<void>
}

/** Replaces a database by a snapshot. */
export interface RestoreTarget {
  /** Rejects with `database_in_use` while another process serves the database. */
  requireUnserved(): Promise<void>
  /**
   * Replaces the database as a whole or not at all. `stamp`: part of the name of the former database. Rejects with
   * `database_in_use` if a process serves the database by now.
   */
  replace(snapshot: RestoredSnapshot, stamp: string): Promise<Restored>
}

export function databaseInUse(what: string): AppError {
  const message = `${what} is in use by another process; stop every platform that serves it, then repeat the command.`
  return new AppError('conflict', 'database_in_use', message)
}

/** The error for a snapshot that cannot be restored. */
export function snapshotDamaged(path: string, reason: unknown): AppError {
  const cause = reason instanceof AppError ? (reason.cause ?? reason) : reason
  const message = `The file ${path} is damaged: ${errorMessage(cause)}.`
  return new AppError('conflict', 'snapshot_damaged', message, { cause })
}
