import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, errorMessage } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { storeUnavailable } from './unavailable.ts'

export interface SnapshotOptions {
  /** Ends the snapshot early; nothing is left of it then. */
  readonly signal?: AbortSignal
}

/**
 * Writes a file as a whole or not at all: under a temporary name beside it, which `write` gets as an empty file, then
 * flushed to the disk and renamed. Only the owner can read it.
 */
export async function writeSnapshot(
  path: string,
  { signal }: SnapshotOptions,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${newId()}.partial`
  try {
    await (await open(temporary, 'wx', 0o600)).close()
    signal?.throwIfAborted()
    await write(temporary)
    signal?.throwIfAborted()
    await flush(temporary)
    await rename(temporary, path)
    await flush(dirname(path))
  } catch (error) {
    // The file may be missing, or its directory: the first error is the cause.
    await rm(temporary, { force: true }).catch(() => undefined)
    signal?.throwIfAborted()
    throw error instanceof AppError ? error : snapshotFailed(error)
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

function snapshotFailed(cause: unknown): AppError {
  return storeUnavailable(cause, `The snapshot could not be written: ${errorMessage(cause)}.`)
}
