import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { eventually } from './eventually.ts'

export const PROGRAM = join(import.meta.dirname, '../../bin/platform.mjs')
// Nothing listens there: a test without a bus must not use one that runs on this machine.
const NO_BUS = 'nats://127.0.0.1:1'
// A command that should fail but serves must not run for ever.
const COMMAND_LIMIT_MS = 300_000
const START_LIMIT_MS = 300_000

/** The listeners to wait for; the default is the api's. */
const EXPECTED_LISTENERS: Readonly<Record<string, readonly string[]>> = {
  worker: ['worker'],
  gateway: ['gateway'],
}

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A new directory, removed at the end of the scope. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'platform-e2e-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** The environment of a program: only what it needs to start, without the settings of the tester. */
export function testEnvironment(dataDir: string, env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: dataDir,
    DATA_DIR: dataDir,
    BUS_SERVER: NO_BUS,
    GATEWAY_LISTEN_ADDR: '127.0.0.1:0',
    ...env,
  }
}

/** Runs a command of the program to its end. */
export async function runPlatform(
  args: readonly string[],
  options: {
    dataDir: string
    env?: Readonly<Record<string, string>>
    input?: string
    /** See {@link ServeOptions}. */
    wrapper?: readonly string[]
    /** See {@link ServeOptions}. */
    program?: string
  },
): Promise<CommandResult> {
  const [command, rest] = commandOf(options.wrapper, args, options.program)
  const child = spawn(command, rest, {
    cwd: options.dataDir,
    env: testEnvironment(options.dataDir, options.env ?? {}),
    stdio: 'pipe',
  })
  const output = collect(child)
  killAtExit(child)
  const limit = setTimeout(() => child.kill('SIGKILL'), COMMAND_LIMIT_MS)
  // A command that is refused at once reads none of it.
  child.stdin.on('error', () => {}).end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(limit)
  return { code, stdout: output.stdout(), stderr: output.stderr() }
}

export interface ServedPlatform extends AsyncDisposable {
  /** The URL of the api: `http://127.0.0.1:port`; empty without one. */
  readonly url: string
  readonly workerUrl: string
  /** The URL of the gateway; empty without one. */
  readonly gatewayUrl: string
  readonly pid: number
  logs(): LogLine[]
  stderr(): string
  /** Calls the api as a local tool with these roles. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
}

export interface CallOptions {
  readonly body?: unknown
  readonly roles?: string
  readonly user?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServeOptions {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: `all`. */
  readonly modules?: string
  /** A command that runs the program, such as `['strace', '-D', …]`. It must not change the process id. */
  readonly wrapper?: readonly string[]
  /** The program's file, a script or an executable; the default is the source. */
  readonly program?: string
}

/** Starts the program on free ports and waits until it listens. */
export async function servePlatform({
  dataDir,
  env = {},
  modules = 'all',
  wrapper,
  program,
}: ServeOptions): Promise<ServedPlatform> {
  const [command, args] = commandOf(wrapper, ['serve', '--module', modules], program)
  const child = spawn(command, args, {
    cwd: dataDir,
    env: testEnvironment(dataDir, {
      LISTEN_ADDR: '127.0.0.1:0',
      LOG_FORMAT: 'json',
      ...(modules === 'worker' && { WORKER_LISTEN_ADDR: '127.0.0.1:0' }),
      ...env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout, stderr } = collect(child)
  killAtExit(child)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const logs = () => parseLines(stdout())
  const addressOf = (module: string) => {
    const line = logs().find((each) => each.message === 'listening' && each['module'] === module)
    return line ? `http://${String(line['address'])}` : ''
  }
  const expected = EXPECTED_LISTENERS[modules] ?? ['api']
  const serves = () =>
    logs().some(({ message }) => message === 'started') &&
    expected.every((module) => addressOf(module) !== '')
  try {
    await eventually('the platform serves', () => hasEnded() || serves(), { timeoutMs: START_LIMIT_MS })
    if (hasEnded()) throw new Error(`the platform ended with ${await ended}`)
  } catch (cause) {
    child.kill('SIGKILL')
    throw new Error(`the platform does not serve; its output:\n${stdout()}\n${stderr()}`, { cause })
  }
  const url = addressOf('api')
  reportSurprisingEnd(child, () => `${stdout()}\n${stderr()}`)
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  const kill = async () => {
    signal('SIGKILL')
    await ended
  }
  return {
    url,
    workerUrl: addressOf('worker'),
    gatewayUrl: addressOf('gateway'),
    pid: child.pid ?? 0,
    logs,
    stderr,
    ended,
    signal,
    kill,
    call: (method, path, options = {}) => callPlatform(url, method, path, options),
    async stop() {
      signal('SIGTERM')
      return ended
    },
    [Symbol.asyncDispose]: kill,
  }
}

/** A crash would otherwise show in a test only as a refused connection. */
function reportSurprisingEnd(child: ChildProcess, output: () => string): void {
  child.once('close', (code, signal) => {
    if (!child.killed)
      console.error(`the platform ended by itself (${code ?? signal}); its output:\n${output()}`)
  })
}

/** Calls an api as a local tool. */
export function callPlatform(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const { body, roles = 'admin', user = 'tester', headers = {} } = options
  return fetch(`${url}${path}`, {
    method,
    headers: {
      'x-user-id': user,
      'x-user-roles': roles,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The command line of the program with its wrapper. */
function commandOf(
  wrapper: readonly string[] = [],
  args: readonly string[],
  program = PROGRAM,
): [command: string, args: string[]] {
  // A script has an extension; a single executable has none.
  const start = extname(program) === '' ? [program] : [process.execPath, program]
  const [command = process.execPath, ...rest] = [...wrapper, ...start, ...args]
  return [command, rest]
}

/** Kills the program when the test process ends. */
function killAtExit(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}

function collect(child: ChildProcess): { stdout(): string; stderr(): string } {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return { stdout: () => stdout, stderr: () => stderr }
}

function parseLines(text: string): LogLine[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LogLine)
}
