import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

// https://man7.org/linux/man-pages/man2/statfs.2.html
const TMPFS = 0x01021994
// Kept over restarts by definition (FHS), so it is no memory file system as /tmp often is.
const DISK = '/var/tmp'

// What no scope has closed when the process ends: after a second Ctrl-C, or by an error that nothing caught.
const open = new Set<() => void>()
process.once('exit', () => [...open].reverse().forEach((close) => close()))

/** A directory on a real disk, where an fsync costs what it costs; removed at the end of the scope. */
export function diskDirectory(): Disposable & { readonly path: string } {
  if (statfsSync(DISK).type === TMPFS)
    throw new Error(`${DISK} is kept in memory: a durable write costs nothing there`)
  const path = mkdtempSync(join(DISK, 'platform-bench-'))
  // A server that was killed may still write.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  open.add(remove)
  return {
    path,
    [Symbol.dispose]() {
      open.delete(remove)
      remove()
    },
  }
}

export interface ServerOptions {
  /** What is started, with its arguments. */
  readonly command: readonly string[]
  readonly port: number
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

export interface RunningServer extends AsyncDisposable {
  readonly pid: number
}

// Seldom enough not to slow the start down, often enough to measure its time.
const LOOK_EVERY_MS = 2
const START_LIMIT_MS = 300_000
// The platform ends within 10 s (docs/specification.md, Configuration).
const STOP_LIMIT_MS = 20_000

/**
 * A server in a process of its own that accepts connections; stopped with SIGTERM at the end of the scope, and with SIGKILL
 * if it does not end.
 */
export async function startServer({ command, port, cwd, env = {} }: ServerOptions): Promise<RunningServer> {
  const [program = '', ...args] = command
  // Standard output goes to /dev/null: reading it would take processor time from the servers.
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const errors = text(child.stderr)
  let failure = ''
  // Such as a program that is not installed.
  child.once('error', ({ message }) => (failure = message))
  const kill = () => child.kill('SIGKILL')
  open.add(kill)
  child.once('exit', () => open.delete(kill))
  const stop = async () => {
    if (hasEnded(child)) return
    const limit = setTimeout(kill, STOP_LIMIT_MS)
    child.kill('SIGTERM')
    await once(child, 'exit')
    clearTimeout(limit)
  }
  try {
    await untilAccepting(child, port)
    if (hasEnded(child))
      throw new Error(`${command.join(' ')} ended instead of serving:\n${failure || (await errors)}`)
  } catch (error) {
    await stop()
    throw error
  }
  return { pid: child.pid ?? 0, [Symbol.asyncDispose]: stop }
}

async function untilAccepting(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS
  while (!hasEnded(child) && !(await accepts(port))) {
    if (performance.now() > deadline)
      throw new Error(`nothing accepts connections on port ${port} after ${START_LIMIT_MS / 1_000} s`)
    await pause(LOOK_EVERY_MS)
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const answer = (accepted: boolean) => {
      socket.destroy()
      resolve(accepted)
    }
    socket.once('connect', () => answer(true)).once('error', () => answer(false))
  })
}
