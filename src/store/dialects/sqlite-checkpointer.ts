import type { Worker } from 'node:worker_threads'
import { MINUTE } from '../../kernel/time.ts'
import { startThread } from '../files/thread.ts'

// With one order a commit, about the thousand pages after which SQLite itself would checkpoint.
const COMMITS_PER_CHECKPOINT = 64
const LOG_PAGES = 1_000

/** Copies the write-ahead log of a database into its file from time to time. */
export interface Checkpointer {
  /** Call it after each commit; it is cheap. */
  onCommit(): void
  /** Resolves when its connection is closed. */
  close(): Promise<void>
}

export interface CheckpointerOptions {
  readonly commitsBetween?: number
  /** The thread has failed; the next checkpoint tries to start another one. */
  readonly onFailure?: () => void
}

/**
 * Checkpoints on a thread of its own: a checkpoint syncs two files, and on a slow disk a commit that includes one stops
 * the event loop three times as long as one without.
 */
export function createCheckpointer(
  path: string,
  { commitsBetween = COMMITS_PER_CHECKPOINT, onFailure = () => undefined }: CheckpointerOptions = {},
): Checkpointer {
  let commits = 0
  let busy = false
  let worker: Worker | undefined

  const startCheckpoints = (): Worker => {
    const thread = startThread(import.meta.url, 'sqlite-checkpoint', {
      path,
      pagesKept: LOG_PAGES,
      idleMs: MINUTE,
    })
    thread.on('message', () => (busy = false))
    thread.on('error', onFailure)
    thread.on('exit', () => {
      busy = false
      worker = undefined
    })
    return thread
  }

  return {
    onCommit() {
      commits += 1
      if (busy || commits < commitsBetween) return
      commits = 0
      busy = true
      worker ??= startCheckpoints()
      worker.postMessage('checkpoint')
    },
    async close() {
      if (!worker) return
      const { promise, resolve } = Promise.withResolvers<void>()
      worker.once('exit', () => resolve())
      // Keeps the process alive until the thread has closed its connection.
      worker.ref()
      worker.postMessage('end')
      await promise
    },
  }
}
