// A thread that copies the write-ahead log into the database file whenever it is asked to, on a connection of its own.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

const { path, pagesKept, idleMs } = workerData as { path: string; pagesKept: number; idleMs: number }
// Others write meanwhile; they wait no longer than this for the last few pages.
const database = new DatabaseSync(path, { timeout: 20 })

function checkpoint(): void {
  // Most of the work, beside those who write. The log begins anew only when all of it was copied, which under steady
  // load never happens by itself.
  const pagesInLog = Number(database.prepare('pragma wal_checkpoint(passive)').get()?.['log'])
  if (pagesInLog > pagesKept) database.exec('pragma wal_checkpoint(restart)')
}

function end(): void {
  clearTimeout(idle)
  database.close()
  parentPort?.close()
}

// A database that is hardly written to needs no thread.
const idle = setTimeout(end, idleMs)

parentPort?.on('message', (message: 'checkpoint' | 'end') => {
  if (message === 'end') return end()
  idle.refresh()
  try {
    checkpoint()
  } catch {
    // A disk that is full or fails is told to those who write; the next checkpoint tries again.
  }
  parentPort?.postMessage('done')
})
