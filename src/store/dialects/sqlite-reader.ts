// A thread that runs queries, each on a connection of its own.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../files/child-program.ts'

interface Query {
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

const { path, inBackground } = workerData as { path: string; inBackground: boolean }
if (inBackground) lowerThreadPriority()

function answer({ text, values }: Query) {
  // Waiting inside the engine stops only this thread.
  // Closed before the answer is sent: after it the store may close, and the last connection to close removes the write-ahead log.
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  return database
    .prepare(text)
    .all(...values)
    .map((row) => ({ ...row }))
}

// A query that fails ends the thread: so its error reaches the caller with all its members.
parentPort?.on('message', (query: Query) => parentPort?.postMessage(answer(query)))
