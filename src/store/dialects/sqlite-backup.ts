// A thread that copies a database page by page, on a connection of its own, and ends.
import { backup, DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

interface Task {
  readonly path: string
  readonly target: string
  /** Not 0 once the copy is to be given up. */
  readonly aborted: SharedArrayBuffer
}

// 4 MiB: the thread looks at `aborted` this often.
const PAGES_A_STEP = 1_024

const { path, target, aborted } = workerData as Task
const isAborted = new Int32Array(aborted)

async function copyPages(): Promise<void> {
  // Waiting inside the engine stops only this thread.
  using source = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  // Without this transaction every commit meanwhile would start the copy anew (sqlite.org/backup.html). In it the pages
  // stay as they are now, and commits go on in the write-ahead log.
  source.exec('begin')
  source.prepare('select count(*) from sqlite_schema').get()
  await backup(source, target, { rate: PAGES_A_STEP, progress: requireGoOn })
  source.exec('rollback')
}

function requireGoOn(): void {
  if (Atomics.load(isAborted, 0) !== 0) throw new Error('the copy was aborted')
}

/** The copy is a file of its own: in the mode of the original every reader would put two files beside it. */
function leaveWriteAheadLog(): void {
  using copy = new DatabaseSync(target)
  copy.exec('pragma journal_mode = delete')
}

async function run(): Promise<void> {
  await copyPages()
  leaveWriteAheadLog()
  parentPort?.postMessage('done')
}

// Not awaited: the release is CommonJS, which has no await outside a function. A rejection ends the thread with an error.
void run()
