import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Containment } from '../../kernel/command.ts'
import { fieldsFromState, hasEnded } from '../../kernel/process.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Program, ProgramEnd, Programs } from '../../ports/programs.ts'
import {
  NAMESPACE_OPTIONS,
  startInNamespace,
  ended,
  type NamespaceOptions,
  environmentOf,
  EXECUTION_VARIABLE,
  type ProcessTree,
  type Started,
} from './pid-namespace.ts'

// A process that has left the tree may hold the pipe open; nothing else writes into it then.
const PIPE_MS = SECOND / 2
const FIRST_CHECK_MS = 50
const SLOWEST_CHECK_MS = SECOND
const NOT_STARTED = 127 // as a shell reports it

export interface HostProgramsOptions {
  /** The ways to make a namespace that are tried; a test may leave out all of them. */
  readonly namespaces?: readonly NamespaceOptions[]
  /** To find the tools that make a namespace. */
  readonly path: string
}

/** Runs programs on this host. Starts no process before the first use. */
export class HostPrograms implements Programs {
  readonly #options: HostProgramsOptions
  #namespace: Promise<NamespaceOptions | undefined> | undefined

  constructor(options: HostProgramsOptions) {
    this.#options = options
  }

  async containment(): Promise<Containment> {
    return (await this.#findNamespace()) ? 'pid_namespace' : 'process_scan'
  }

  async run(program: Program): Promise<ProgramEnd> {
    const tree = await this.#start(program)
    const { main } = tree
    pipeOutput(main, program)
    const signals = forwardSignals(tree, program)
    await ended(main)
    if (program.terminate.aborted) await waitUntilEmpty(tree, program.kill)
    await signals.waitForAll()
    await tree.destroy()
    await outputEnd(main)
    return endOf(main, program)
  }

  executionsWithProcesses(): readonly string[] {
    const processes = readProcesses()
    const own = processes.find(({ pid }) => pid === process.pid)?.executionId
    const named = new Set(processes.flatMap(({ executionId }) => executionId ?? []))
    return [...named].filter((id) => id !== own)
  }

  killProcessesOf(executionId: string): Promise<void> {
    return killMarked(executionId)
  }

  async #start(started: Started): Promise<ProcessTree> {
    const namespace = await this.#findNamespace()
    return namespace ? startInNamespace(started, namespace) : startScanned(started)
  }

  #findNamespace(): Promise<NamespaceOptions | undefined> {
    return (this.#namespace ??= this.#tryNamespaces())
  }

  async #tryNamespaces(): Promise<NamespaceOptions | undefined> {
    const { namespaces = NAMESPACE_OPTIONS, path } = this.#options
    for (const options of namespaces) if (await isAllowed(options, path)) return options
    return undefined
  }
}

/** Whether this host lets a program run in such a namespace, and be signalled there. */
async function isAllowed(options: NamespaceOptions, path: string): Promise<boolean> {
  const probe = { executionId: 'probe', run: ['sh', '-c', 'exit 7'], environment: { PATH: path } }
  try {
    const tree = await startInNamespace(probe, options)
    tree.main.stdout?.resume()
    tree.main.stderr?.resume()
    await ended(tree.main)
    const isEmpty = await tree.isEmpty()
    await tree.destroy()
    return isEmpty && tree.main.exitCode === 7
  } catch {
    return false
  }
}

function pipeOutput(main: ChildProcess, { onOutput }: Program): void {
  main.stdout?.on('data', (bytes: Buffer) => onOutput('stdout', bytes))
  main.stderr?.on('data', (bytes: Buffer) => onOutput('stderr', bytes))
}

/** Carries out `terminate` and `kill`. */
function forwardSignals(tree: ProcessTree, { terminate, kill }: Program): { waitForAll(): Promise<unknown> } {
  const sent: Promise<void>[] = []
  const on = (signal: AbortSignal, send: () => Promise<void>) => {
    if (signal.aborted) sent.push(send())
    else signal.addEventListener('abort', () => sent.push(send()), { once: true })
  }
  on(terminate, () => tree.terminate())
  on(kill, () => tree.destroy())
  return { waitForAll: () => Promise.allSettled(sent) }
}

/** After SIGTERM the other processes may take as long as the first one. */
async function waitUntilEmpty(tree: ProcessTree, kill: AbortSignal): Promise<void> {
  for (let pause = FIRST_CHECK_MS; !kill.aborted; pause = Math.min(2 * pause, SLOWEST_CHECK_MS)) {
    if (await tree.isEmpty()) return
    await sleep(pause, undefined, { signal: kill }).catch(() => undefined)
  }
}

/** Resolves when everything that was written has been read. */
async function outputEnd(main: ChildProcess): Promise<void> {
  const pipes = [main.stdout, main.stderr].flatMap((pipe) => (pipe && !pipe.closed ? [pipe] : []))
  const closed = Promise.all(pipes.map((pipe) => once(pipe, 'close')))
  await Promise.race([closed, sleep(PIPE_MS, undefined, { ref: false })])
  for (const pipe of pipes) pipe.destroy()
}

function endOf(main: ChildProcess, { run, onOutput }: Program): ProgramEnd {
  const { pid, exitCode, signalCode } = main
  if (pid !== undefined) return { exitCode, signal: signalCode }
  onOutput('stderr', Buffer.from(`cannot start ${run[0]}\n`))
  return { exitCode: NOT_STARTED, signal: null }
}

// Each round stops all processes before it kills them, so that none can start another one meanwhile.
const MAX_ROUNDS = 200
const ROUND_MS = 10

/** Starts a program without a namespace, in a session of its own. */
function startScanned(started: Started): ProcessTree {
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
function killMarked(executionId: string): Promise<void> {
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
    // The process is gone, or may not be signalled; the next round decides.
  }
}

/** A process of this host. */
interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** The execution that its environment names; undefined without one, and where it must not be read. */
  readonly executionId: string | undefined
}

/** The living processes that proc(5) shows; none on a system without it. */
function readProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => readProcess(pid) ?? [])
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

const PREFIX = `${EXECUTION_VARIABLE}=`

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined || hasEnded(stat)) return undefined
  const [, parent, group, session] = fieldsFromState(stat)
  const variables = readText(`/proc/${pid}/environ`)?.split('\0')
  const executionId = variables?.find((variable) => variable.startsWith(PREFIX))?.slice(PREFIX.length)
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), executionId }
}

/** Undefined when the process has ended, or belongs to another account. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The processes of an execution: those that its environment marks or that `known` names, and what belongs to them. */
export function membersOf(
  processes: readonly ProcessEntry[],
  executionId: string,
  known: ReadonlySet<number> = new Set(),
): number[] {
  const members = new Set<number>()
  const isMember = ({ pid, parent, group, session, executionId: named }: ProcessEntry) =>
    named === executionId || [pid, parent, group, session].some((id) => known.has(id) || members.has(id))
  for (let size = -1; size < members.size;) {
    size = members.size
    for (const process of processes) if (isMember(process)) members.add(process.pid)
  }
  // A worker that was started by a command has the environment of that command.
  members.delete(process.pid)
  return [...members]
}
