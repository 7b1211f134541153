import type { CompiledQuery } from 'kysely'
import type { DatabaseContents } from '../../ports/database-files.ts'
import { resultOf, startThread } from '../files/thread.ts'
import { ReaderThread } from './reader-thread.ts'

export interface ReadOptions {
  /** Lets requests go before the query. */
  readonly inBackground?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Runs one query on a connection and a thread of its own: for what reads for a long time. Rejects with `store_unavailable`. */
export async function readInThread<R>(
  path: string,
  query: CompiledQuery<R>,
  { inBackground = false, signal }: ReadOptions = {},
): Promise<R[]> {
  const thread = new ReaderThread(path, { inBackground })
  try {
    return await thread.read(query, signal)
  } finally {
    thread.end()
  }
}

/** Copies a database as it is now to `target`, an empty file, while others read and write it. */
export async function copyInThread(path: string, target: string, signal?: AbortSignal): Promise<void> {
  const aborted = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const worker = startThread(import.meta.url, 'sqlite-backup', { path, target, aborted })
  // The thread closes its files itself: a thread that is terminated in the middle of a step would leave them open.
  await resultOf(worker, signal, () => Atomics.store(new Int32Array(aborted), 0, 1))
}

/** The rows of each table of a file and a hash of them. */
export async function hashTablesInThread(
  path: string,
  signal?: AbortSignal,
): Promise<DatabaseContents['tables']> {
  const worker = startThread(import.meta.url, 'sqlite-contents-thread', { path })
  return resultOf(worker, signal)
}
