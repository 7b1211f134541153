// Commits one order after the other until it is stopped; each changes the first page of the completed orders.
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

// Between two commits the thread sleeps, so that it leaves the processor to the server and the load generator.
const PAUSE_MS = 0.05
const COMMITS_A_TURN = 20

const { path } = workerData as { path: string }
const database = new DatabaseSync(path, { timeout: 10_000 })
// An fsync takes longer than a page: without one there is a commit between any two pages.
database.exec('pragma synchronous = off')
const insert = database.prepare(`
  insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at,
    completed_at, version)
  values (:id, 'live', 4990, 'completed', :at, :at, 'seed', :at, :at, 2)`)

const sleeper = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
let number = 0
let isRunning = false

/** Posts 0 after the first turn, and the number of commits when it is stopped. */
async function run(): Promise<void> {
  isRunning = true
  const before = number
  for (let turn = 0; isRunning; turn++) {
    for (let commit = 0; commit < COMMITS_A_TURN; commit++) {
      // As long as the ids of the orders that are there.
      insert.run({ id: `more-${String(number++).padStart(12, '0')}`, at: Date.now() })
      Atomics.wait(sleeper, 0, 0, PAUSE_MS)
    }
    if (turn === 0) parentPort?.postMessage(0)
    await nextTurn()
  }
  parentPort?.postMessage(number - before)
}

parentPort?.on('message', (task: 'start' | 'stop') => {
  if (task === 'start') void run()
  else isRunning = false
})
