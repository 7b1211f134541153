import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Snapshots, SnapshotSteps } from '../../ports/database-files.ts'
import { storeUnavailable } from '../unavailable.ts'
import { sql } from 'kysely'
import { hashFile } from './thread.ts'
import type { Store } from '../store.ts'
import { verifySnapshot } from './snapshot-formats.ts'

/**
 * Writes a file as a whole or not at all: under a temporary name beside it, which `write` gets as an empty file, then
 * flushed to the disk and renamed. Only the owner can read it.
 */
export async function writeSnapshot(
  path: string,
  { signal }: SnapshotSteps,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${newId()}.partial`
  try {
    await (await open(temporary, 'wx', 0o600)).close()
    signal?.throwIfAborted()
    await flushWhile(temporary, () => write(temporary))
    signal?.throwIfAborted()
    await flush(temporary)
    await moveFile(temporary, path)
  } catch (error) {
    // The file may be missing, or its directory: the first error is the cause.
    await rm(temporary, { force: true }).catch(() => undefined)
    signal?.throwIfAborted()
    throw error instanceof AppError ? error : snapshotFailed(error)
  }
}

/** Renames a flushed file within its directory, and waits until the new name is on the disk. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to)
  await flush(dirname(to))
}

// At once, a large file would take seconds to flush, and the commits of the database would wait for it.
const FLUSH_EVERY_MS = 100

/** Flushes the file again and again while it is written. */
async function flushWhile(path: string, write: () => Promise<void>): Promise<void> {
  const written = new AbortController()
  const flushed = flushUntil(path, written.signal)
  // The flushing may fail before the end of the write, and is awaited only then.
  flushed.catch(() => undefined)
  try {
    await write()
  } finally {
    written.abort()
    await flushed
  }
}

async function flushUntil(path: string, signal: AbortSignal): Promise<void> {
  await using file = await open(path, 'r')
  while (!signal.aborted) {
    await pause(FLUSH_EVERY_MS, undefined, { signal }).catch(() => undefined)
    await file.datasync()
  }
}

async function flush(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}

function snapshotFailed(cause: unknown): AppError {
  return storeUnavailable(cause, `The snapshot could not be written: ${errorMessage(cause)}.`)
}

/** The snapshots of an open database. */
export function createSnapshots(store: Store): Snapshots {
  const { databaseBytes, snapshotExtension } = store.capabilities
  return {
    extension: snapshotExtension,
    async databaseBytes() {
      const { rows } = await sql<{ bytes: number }>`select ${databaseBytes} as bytes`.execute(store.read.db)
      return rows[0]?.bytes ?? 0
    },
    write: (path, options) => store.snapshot(path, options),
    async verify(path, options) {
      const contents = await verifySnapshot(path, options)
      const sha256 = await hashFile(path, options.signal)
      return { ...contents, sha256, sizeBytes: (await stat(path)).size }
    },
  }
}
