import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { membersOf, readProcesses } from './process-table.ts'
import { environmentOf, type ProcessTree, type Started } from './process-tree.ts'

// Each round stops all processes before it kills them, so that none can start another one meanwhile.
const MAX_ROUNDS = 200
const ROUND_MS = 10

/** Starts a program without a namespace, in a session of its own. */
export function startScanned(started: Started): ProcessTree {
  const [command = '', ...args] = started.run
  const main = spawn(command, args, {
    cwd: '/',
    env: environmentOf(started),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  main.on('error', () => undefined)
  return new ScannedTree(started.executionId, main)
}

/** The processes that a search finds (`process_scan`). */
class ScannedTree implements ProcessTree {
  readonly main: ChildProcess
  readonly #executionId: string

  constructor(executionId: string, main: ChildProcess) {
    this.#executionId = executionId
    this.main = main
  }

  async terminate(): Promise<void> {
    for (const pid of this.#members()) sendSignal(pid, 'SIGTERM')
  }

  async isEmpty(): Promise<boolean> {
    return this.#members().length === 0
  }

  async destroy(): Promise<void> {
    await killAll(() => this.#members())
  }

  #members(): number[] {
    // The first process leads a group and a session with its own number.
    const { pid } = this.main
    return pid === undefined ? [] : membersOf(readProcesses(), this.#executionId, new Set([pid]))
  }
}

/** Kills the processes of an execution that a search finds. */
export function killMarked(executionId: string): Promise<void> {
  return killAll(() => membersOf(readProcesses(), executionId))
}

/** Kills processes until there are none. */
async function killAll(members: () => readonly number[]): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const stopped = members()
    for (const pid of stopped) sendSignal(pid, 'SIGSTOP')
    for (const pid of new Set([...stopped, ...members()])) sendSignal(pid, 'SIGKILL')
    if (stopped.length === 0) return
    await sleep(ROUND_MS)
  }
}

/** A process that has ended, or that belongs to another account, is left alone. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone, or may not be signalled; the next round decides.
  }
}
