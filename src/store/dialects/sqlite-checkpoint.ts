// A thread that copies the write-ahead log into the database file on request, on a connection of its own.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

const { path, pagesKept, idleMs } = workerData as { path: string; pagesKept: number; idleMs: number }
// In milliseconds: so long the restart of the log may hold up writers.
const database = new DatabaseSync(path, { timeout: 20 })

let copiedBefore = -1

function checkpoint(): void {
  // A passive checkpoint does most of the work without a lock. The log restarts only after all of it was copied, which
  // under constant load never happens by itself.
  const { log, checkpointed } = database.prepare('pragma wal_checkpoint(passive)').get() ?? {}
  const [pagesInLog, copied] = [Number(log), Number(checkpointed)]
  // A reader, such as a snapshot, still needs the pages of the file as they are: a restart would hold up the writers and
  // fail.
  const isHeldBack = copied < pagesInLog && copied === copiedBefore
  copiedBefore = copied
  if (pagesInLog > pagesKept && !isHeldBack) database.exec('pragma wal_checkpoint(restart)')
}

function end(): void {
  clearTimeout(idle)
  database.close()
  parentPort?.close()
}

// A database with few writes needs no thread.
const idle = setTimeout(end, idleMs)

parentPort?.on('message', (message: 'checkpoint' | 'end') => {
  if (message === 'end') return end()
  idle.refresh()
  try {
    checkpoint()
  } catch {
    // Writers report a disk that is full or fails; the next checkpoint tries again.
  }
  parentPort?.postMessage('done')
})
