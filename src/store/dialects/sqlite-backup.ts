// A thread that copies a database as it is now, on connections of its own, and ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import {
  lowerPriority,
  lowerThreadPriority,
  killWithParent,
  type CommandLine,
} from '../files/child-program.ts'

interface Task {
  readonly path: string
  readonly target: string
  /** Not 0 once the copy is to be given up. */
  readonly aborted: SharedArrayBuffer
}

// 4 MiB: the thread looks at `aborted` this often.
const PAGES_A_STEP = 1_024
const LOOK_EVERY_MS = 50
const CHECKPOINT_PAUSE_MS = 5
// Under constant load about one attempt in three succeeds.
const ATTEMPTS = 100
const ATTEMPT_PAUSE_MS = 10

const { path, target, aborted } = workerData as Task
const isAborted = new Int32Array(aborted)

async function copyDatabase(): Promise<void> {
  // Waiting inside the engine stops only this thread.
  using reader = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  if (!(await copyFile(reader))) await copyPages(reader)
}

/**
 * Copies the file while it is complete by itself, and a transaction keeps checkpoints from changing it; commits go on in the
 * write-ahead log. `false` if that was not possible. The work is done by another process, because closing a file releases
 * the locks that SQLite has on it in this process.
 */
async function copyFile(reader: DatabaseSync): Promise<boolean> {
  using checkpoints = new DatabaseSync(path)
  const complete = await beginAtCompleteFile(reader, checkpoints)
  if (complete === undefined) return false
  const isCopied = await runCopy()
  const { checkpointed } = checkpoint(checkpoints)
  reader.exec('rollback')
  // Fewer pages: the log has begun anew, which this transaction allows only while the file has everything.
  return isCopied && checkpointed <= complete
}

/**
 * Begins a transaction whose data is in the file alone: right after it, a checkpoint finds no later commit and copies the
 * whole log (sqlite.org/wal.html, Checkpointing). Answers the number of pages in the log, or undefined if commits came in
 * between each time.
 */
async function beginAtCompleteFile(
  reader: DatabaseSync,
  checkpoints: DatabaseSync,
): Promise<number | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    begin(reader)
    const { log, checkpointed } = checkpoint(checkpoints)
    if (log === checkpointed) return checkpointed
    reader.exec('rollback')
    checkpoint(checkpoints)
    await pause(ATTEMPT_PAUSE_MS)
  }
  return undefined
}

function begin(reader: DatabaseSync): void {
  reader.exec('begin')
  // The first statement fixes what the transaction sees.
  reader.prepare('select count(*) from sqlite_schema').get()
}

interface Log {
  /** Pages in the log. */
  readonly log: number
  /** Pages of the log that were copied to the file. */
  readonly checkpointed: number
}

/** Copies what the readers allow from the log to the file. */
function checkpoint(database: DatabaseSync): Log {
  const passive = database.prepare('pragma wal_checkpoint(passive)')
  for (;;) {
    requireGoOn()
    const { busy, log, checkpointed } = passive.get() ?? {}
    // Otherwise another connection makes a checkpoint.
    if (busy === 0) return { log: Number(log), checkpointed: Number(checkpointed) }
    Atomics.wait(isAborted, 0, 0, CHECKPOINT_PAUSE_MS)
  }
}

/**
 * The commands that can copy the file, the best first. A clone shares the blocks of the file and needs a file system that can.
 * Direct writes in small blocks, with the lowest I/O priority, delay the commits least: what `cp` writes fills the page cache,
 * and each commit waits while that is written back.
 */
const COPY_COMMANDS: readonly CommandLine[] = [
  ['cp', '--reflink=always', '--', path, target],
  [
    'ionice',
    '-c3',
    'dd',
    `if=${path}`,
    `of=${target}`,
    'bs=512K',
    'oflag=direct',
    'conv=notrunc,nocreat',
    'status=none',
  ],
  ['cp', '--', path, target],
]

/** `false` if no command could copy the file. */
async function runCopy(): Promise<boolean> {
  for (const command of COPY_COMMANDS) if (await runProgram(command)) return true
  return false
}

/** `false` if there is no such program, or if it has failed. */
async function runProgram(command: CommandLine): Promise<boolean> {
  const [program, ...args] = await killWithParent(command)
  const child = spawn(program, args, { stdio: 'ignore' })
  lowerPriority(child.pid)
  const look = setInterval(() => Atomics.load(isAborted, 0) !== 0 && child.kill('SIGKILL'), LOOK_EVERY_MS)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code === 0
  } catch {
    return false
  } finally {
    clearInterval(look)
    requireGoOn()
  }
}

/** Without the transaction every commit meanwhile would start this copy anew (sqlite.org/backup.html). */
async function copyPages(reader: DatabaseSync): Promise<void> {
  writeFileSync(target, '')
  begin(reader)
  await backup(reader, target, { rate: PAGES_A_STEP, progress: requireGoOn })
  reader.exec('rollback')
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
  lowerThreadPriority()
  await copyDatabase()
  leaveWriteAheadLog()
  parentPort?.postMessage('done')
}

// Not awaited: the release is CommonJS, which has no await outside a function. A rejection ends the thread with an error.
void run()
