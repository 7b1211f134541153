// A thread that runs one query on a connection of its own and ends.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../background-priority.ts'

interface Task {
  readonly inBackground: boolean
  readonly path: string
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

const { path, text, values, inBackground } = workerData as Task
if (inBackground) lowerThreadPriority()
// Waiting inside the engine stops only this thread.
const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
const answer = () => {
  try {
    return database
      .prepare(text)
      .all(...values)
      .map((row) => ({ ...row }))
  } finally {
    // Before the answer: after it the store may close, and the last connection to close removes the write-ahead log.
    database.close()
  }
}
parentPort?.postMessage(answer())
