import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../../kernel/time.ts'

/** A started program with everything that it starts. */
export interface ProcessTree {
  /** Its first process, with pipes for its output. */
  readonly main: ChildProcess
  /** Sends SIGTERM to every process. */
  terminate(): Promise<void>
  /** Whether no process is left. */
  isEmpty(): Promise<boolean>
  /** Kills every process; resolves when none is left. May be called twice. */
  destroy(): Promise<void>
}

/** What is started. */
export interface Started {
  readonly executionId: string
  readonly run: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** The environment variable that marks the processes of an execution. */
export const EXECUTION_VARIABLE = 'PLATFORM_EXECUTION_ID'

/** The whole environment of a program. */
export function environmentOf({ executionId, environment }: Started): Record<string, string> {
  return { ...environment, [EXECUTION_VARIABLE]: executionId }
}

/** How a namespace is made (unshare(1)) and entered (nsenter(1)). */
export interface NamespaceOptions {
  readonly create: readonly string[]
  readonly join: (processId: number) => readonly string[]
}

const pidOf = (id: number) => `--pid=/proc/${id}/ns/pid_for_children`
const mountOf = (id: number) => `--mount=/proc/${id}/ns/mnt`
const userOf = (id: number) => [`--user=/proc/${id}/ns/user`, '--preserve-credentials']

/**
 * The ways to make a PID namespace, the best first: root, then an account that may make user namespaces. With a /proc of
 * its own a program sees the process ids that it can signal; a container may refuse to mount one.
 */
export const NAMESPACE_OPTIONS: readonly NamespaceOptions[] = [
  { create: ['--pid', '--mount-proc'], join: (id) => [pidOf(id), mountOf(id)] },
  { create: ['--pid'], join: (id) => [pidOf(id)] },
  {
    create: ['--user', '--map-current-user', '--pid', '--mount-proc'],
    join: (id) => [...userOf(id), pidOf(id), mountOf(id)],
  },
  { create: ['--user', '--map-current-user', '--pid'], join: (id) => [...userOf(id), pidOf(id)] },
]

// The first process of a namespace must outlive the program and end with the worker. `cat` ends at the end of its input,
// whose only writer is the worker. With SIGCHLD ignored, the kernel removes the ended orphans that it inherits.
const FIRST_PROCESS = ['env', '--ignore-signal=CHLD', 'cat']
const KILL_AFTER_MS = 2 * SECOND

/** Opens a namespace and starts the program in it; rejects if this host does not allow it. */
export async function startInNamespace(started: Started, options: NamespaceOptions): Promise<ProcessTree> {
  const { environment, executionId, run } = started
  const init = openNamespace(options, environmentOf({ executionId, run, environment: pathOf(environment) }))
  await ready(init)
  const enter = ['nsenter', ...options.join(init.pid ?? 0), '--']
  const main = start([...enter, ...run], environmentOf(started), 'pipe')
  return new NamespaceTree(init, main, (script) =>
    start([...enter, 'sh', '-c', script], pathOf(environment), 'ignore'),
  )
}

function pathOf({ PATH = '' }: Readonly<Record<string, string>>): { readonly PATH: string } {
  return { PATH }
}

function openNamespace({ create }: NamespaceOptions, env: Record<string, string>): ChildProcess {
  const args = [...create, '--fork', '--kill-child=KILL', '--', ...FIRST_PROCESS]
  const init = spawn('unshare', args, { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  // An error is reported by `ready`, and a namespace that has ended needs no further input.
  init.on('error', () => undefined)
  init.stdin?.on('error', () => undefined)
  return init
}

/** Resolves when the first process answers; rejects when it has ended. */
async function ready(init: ChildProcess): Promise<void> {
  const answer = once(init.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  const ended = once(init, 'close')
  init.stdin?.write('\n')
  const first = await Promise.race([answer.then(() => 'ready'), ended.then(() => 'ended')])
  if (first === 'ended') throw new Error('The PID namespace could not be made.')
}

function start(
  [command = '', ...args]: readonly string[],
  env: Record<string, string> | { readonly PATH: string },
  output: 'pipe' | 'ignore',
): ChildProcess {
  const child = spawn(command, args, { cwd: '/', env, detached: true, stdio: ['ignore', output, output] })
  child.on('error', () => undefined)
  return child
}

/** The processes of a PID namespace (pid_namespaces(7)): when its first process ends, the kernel kills all the others. */
class NamespaceTree implements ProcessTree {
  readonly main: ChildProcess
  readonly #init: ChildProcess
  readonly #inside: (script: string) => ChildProcess
  readonly #ended: Promise<unknown>

  constructor(init: ChildProcess, main: ChildProcess, inside: (script: string) => ChildProcess) {
    this.main = main
    this.#init = init
    this.#inside = inside
    this.#ended = ended(init)
  }

  async terminate(): Promise<void> {
    await this.#signal('TERM')
  }

  async isEmpty(): Promise<boolean> {
    // kill(2): there is no process that the signal 0 could be sent to.
    return (await this.#signal('0')) !== 0
  }

  async destroy(): Promise<void> {
    this.#init.stdin?.end()
    // The kernel ends the other processes before the first one is gone.
    await Promise.race([this.#ended, sleep(KILL_AFTER_MS, undefined, { ref: false })])
    this.#init.kill('SIGKILL')
    await this.#ended
  }

  /** Sends a signal to every process of the namespace but the first; returns the exit code. */
  async #signal(signal: string): Promise<number | null> {
    const child = this.#inside(`kill -s ${signal} -- -1`)
    await ended(child)
    return child.exitCode
  }
}

/** Resolves when a process has ended, or could not be started. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  await once(child, 'exit')
}
