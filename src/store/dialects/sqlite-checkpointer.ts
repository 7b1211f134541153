import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { MINUTE } from '../../kernel/time.ts'

// About the thousand pages of SQLite's own rule, at a group of one order a commit.
const COMMITS_BETWEEN = 64
const PAGES_KEPT = 1_000

/** Whoever copies the write-ahead log of a database into its file. */
export interface Checkpointer {
  /** To be called after each commit; cheap. */
  committed(): void
  /** Resolves when its connection is closed. */
  close(): Promise<void>
}

/**
 * Checkpoints on a thread of their own: one syncs two files, and on a slow disk a commit that does it by the way stops
 * the event loop three times as long as one that does not.
 */
export function createCheckpointer(path: string, commitsBetween = COMMITS_BETWEEN): Checkpointer {
  let commits = 0
  let busy = false
  let worker: Worker | undefined

  const started = (): Worker => {
    const thread = new Worker(new URL(`./sqlite-checkpoint${extname(import.meta.url)}`, import.meta.url), {
      workerData: { path, pagesKept: PAGES_KEPT, idleMs: MINUTE },
    })
    thread.unref()
    thread.on('message', () => (busy = false))
    // The writers' own rule still holds when there can be no thread.
    thread.on('error', () => undefined)
    thread.on('exit', () => {
      busy = false
      worker = undefined
    })
    return thread
  }

  return {
    committed() {
      commits += 1
      if (busy || commits < commitsBetween) return
      commits = 0
      busy = true
      worker ??= started()
      worker.postMessage('checkpoint')
    },
    async close() {
      if (!worker) return
      const { promise, resolve } = Promise.withResolvers<void>()
      worker.once('exit', () => resolve())
      // Whoever closes waits for it: a process with nothing else to do would end before its stop has.
      worker.ref()
      worker.postMessage('end')
      await promise
    },
  }
}
