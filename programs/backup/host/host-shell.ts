import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { MINUTE, SECOND } from '../../../src/kernel/time.ts'
import { searchPath } from '../env.ts'
import { formatCommand, type CommandOptions, type CommandOutcome, type Shell } from './shell.ts'
import { systemErrorCode } from '../../files/system-error.ts'

export interface HostShellOptions {
  readonly clock: WaitingClock
  /** Where programs are searched. Left out: where this program was. */
  readonly path?: string | undefined
}

const TIMEOUT_MS = 10 * MINUTE
const KILL_AFTER_MS = 5 * SECOND
// A background process that the command has left behind may keep its output open.
const OUTPUT_GRACE_MS = SECOND
const MAX_OUTPUT_CHARACTERS = 64 * 1_024
const MAX_REASON_CHARACTERS = 300

type End = { readonly code: number | null; readonly signal: string | null } | { readonly error: unknown }

/** Runs the programs of this host, each in a process group of its own. */
export class HostShell implements Shell {
  readonly #clock: WaitingClock
  readonly #environment: Readonly<Record<string, string>>

  constructor({ clock, path = searchPath() }: HostShellOptions) {
    this.#clock = clock
    // The environment of this program may have secrets. Messages in English can be searched for.
    this.#environment = { PATH: path, HOME: homeDirectory(), LC_ALL: 'C.UTF-8' }
  }

  ask(command: readonly string[], options?: CommandOptions): Promise<CommandOutcome> {
    return this.run(command, options)
  }

  async run(command: readonly string[], options: CommandOptions = {}): Promise<CommandOutcome> {
    const [program = '', ...args] = command
    try {
      return await this.#runProgram(program, args, options)
    } catch (error) {
      // The command cannot be started at all, for example because its name is empty.
      return failure(program, errorMessage(error))
    }
  }

  async #runProgram(
    program: string,
    args: readonly string[],
    { timeoutMs = TIMEOUT_MS, signal }: CommandOptions,
  ): Promise<CommandOutcome> {
    const child = spawn(program, args, {
      cwd: '/',
      env: this.#environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr] = [tailOf(child.stdout), tailOf(child.stderr)]
    const closed = once(child, 'close').catch(() => undefined)
    const limit = this.#limit(child, timeoutMs, signal)
    const end = await endOf(child)
    limit.over()
    await this.#atMost(OUTPUT_GRACE_MS, closed)
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
    return toOutcome(program, end, { stdout: stdout(), stderr: stderr(), killed: limit.reason() })
  }

  /** Kills the group after the time, or when the signal is aborted. */
  #limit(child: ChildProcess, timeoutMs: number, signal: AbortSignal | undefined) {
    const over = new AbortController()
    let reason: string | undefined
    const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal
    const kill = async () => {
      await this.#clock.wait(timeoutMs, stop)
      if (over.signal.aborted) return
      reason = signal?.aborted ? 'interrupted' : `no end within ${timeoutMs / SECOND} s`
      killGroup(child, 'SIGTERM')
      await this.#clock.wait(KILL_AFTER_MS, over.signal)
      if (!over.signal.aborted) killGroup(child, 'SIGKILL')
    }
    void kill()
    return { over: () => over.abort(), reason: () => reason }
  }

  async #atMost(milliseconds: number, done: Promise<unknown>): Promise<void> {
    const limit = new AbortController()
    await Promise.race([done, this.#clock.wait(milliseconds, limit.signal)])
    limit.abort()
  }
}

/** The home directory of the account, not of the environment; `/` for an account that the system does not know. */
function homeDirectory(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

/** Collects the end of a stream. */
function tailOf(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-MAX_OUTPUT_CHARACTERS)
  })
  stream.on('error', () => undefined)
  return () => text
}

function endOf(child: ChildProcess): Promise<End> {
  const end = Promise.withResolvers<End>()
  child.once('error', (error) => end.resolve({ error }))
  child.once('exit', (code, signal) => end.resolve({ code, signal }))
  return end.promise
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The process group has ended meanwhile.
  }
}

interface Output {
  readonly stdout: string
  readonly stderr: string
  /** Why it was killed. */
  readonly killed: string | undefined
}

function toOutcome(program: string, end: End, { stdout, stderr, killed }: Output): CommandOutcome {
  if ('error' in end) return notStarted(program, end.error)
  if (end.code === 0) return { status: 'succeeded', output: stdout }
  const ending = killed ?? (end.signal === null ? `exit code ${end.code}` : `killed by ${end.signal}`)
  const said = lastLine(stderr) || lastLine(stdout)
  return failure(program, said === '' ? ending : `${ending}: ${said}`)
}

function notStarted(program: string, error: unknown): CommandOutcome {
  if (systemErrorCode(error) === 'ENOENT') return { status: 'missing', reason: `${program} is not installed` }
  return failure(program, errorMessage(error))
}

function failure(program: string, reason: string): CommandOutcome {
  return { status: 'failed', reason: `${program}: ${reason}` }
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  return line
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON_CHARACTERS)
}

export interface DryRunShellDeps {
  /** Runs the commands that only read. */
  readonly reader: Pick<Shell, 'ask'>
  /** Takes one line for each command that is not run. */
  readonly print: (line: string) => void
  /** The `PATH` in which programs are searched; by default that of this program. */
  readonly path?: string | undefined
}

/** The shell of `--dry-run`: prints each command that would change something. */
export class DryRunShell implements Shell {
  readonly #deps: DryRunShellDeps

  constructor(deps: DryRunShellDeps) {
    this.#deps = deps
  }

  ask(command: readonly string[], options?: CommandOptions): Promise<CommandOutcome> {
    return this.#deps.reader.ask(command, options)
  }

  async run(command: readonly string[]): Promise<CommandOutcome> {
    const { path = searchPath(), print } = this.#deps
    const [program = ''] = command
    if (!isInstalled(program, path)) return { status: 'missing', reason: `${program} is not installed` }
    print(`would run: ${formatCommand(command)}`)
    return { status: 'succeeded', output: '' }
  }
}

function isInstalled(program: string, path: string): boolean {
  if (program.includes('/')) return isExecutable(program)
  return path.split(':').some((directory) => isExecutable(join(directory, program)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
