// A thread that answers one query on a connection of its own and ends.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

interface Task {
  readonly path: string
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

const { path, text, values } = workerData as Task
// Here waiting inside the engine stops nobody else.
const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
const answer = () => {
  try {
    return database
      .prepare(text)
      .all(...values)
      .map((row) => ({ ...row }))
  } finally {
    // Before the answer: whoever has it may close the database, and only the last connection leaves it tidy.
    database.close()
  }
}
parentPort?.postMessage(answer())
