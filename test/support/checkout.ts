import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from './eventually.ts'
import { testEnvironment, temporaryDirectory, type CommandResult } from './platform.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['bin', 'src', 'programs', 'scripts', 'package.json', 'package-lock.json', '.npmrc']

export interface Checkout extends Disposable {
  readonly path: string
  /** The paths of all files, relative to the checkout; without the contents of the packages. */
  files(): string[]
}

/** A copy of the program's files with the installed packages, in which tests may write. */
export function copyCheckout({ installed = true } = {}): Checkout {
  const directory = temporaryDirectory()
  for (const name of COPIED) cpSync(join(ROOT, name), join(directory.path, name), { recursive: true })
  if (installed) linkPackages(join(ROOT, 'node_modules'), join(directory.path, 'node_modules'))
  return {
    ...directory,
    files: () => globSync(['**', 'node_modules/.cache/**'], { cwd: directory.path }).sort(),
  }
}

/** Links all packages, without the caches. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from).filter((each) => each !== '.cache' && each !== '.package-lock.json'))
    symlinkSync(join(from, name), join(to, name))
  cpSync(join(from, '.package-lock.json'), join(to, '.package-lock.json'))
}

/** The environment of a shell whose PATH does not contain the pinned Node.js. */
export function hostEnvironment(home: string): NodeJS.ProcessEnv {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const path = directories.filter((each) => !each.includes('node_modules')).join(delimiter)
  return testEnvironment(home, { PATH: path, LISTEN_ADDR: '127.0.0.1:0', LOG_FORMAT: 'json' })
}

/** Starts a command; the caller reads its output. */
export function startCommand(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  const [program = '', ...args] = command
  return spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs a command to its end. */
export async function runCommand(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const child = startCommand(command, cwd, env)
  const exited = once(child, 'close') as Promise<[number | null]>
  const [[code], stdout, stderr] = await Promise.all([exited, outputOf(child.stdout), outputOf(child.stderr)])
  return { code, stdout, stderr }
}

function outputOf(stream: ChildProcess['stdout']): Promise<string> {
  return stream ? text(stream) : Promise.resolve('')
}

/** Starts and stops the mock provider of a program; `home` is its working directory and its TMPDIR. */
export async function runMockProvider(program: string, home: string): Promise<void> {
  const env = testEnvironment(home, { TMPDIR: home, MOCK_PORT: '0' })
  const start = extname(program) === '' ? [program] : [process.execPath, program]
  const mock = startCommand([...start, 'mock-oidc'], home, env)
  const ended = once(mock, 'close')
  let printed = ''
  mock.stderr?.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  try {
    await eventually(
      'the mock provider listens',
      () => printed.includes('listening') || mock.exitCode !== null,
    )
  } finally {
    mock.kill('SIGTERM')
  }
  assert.deepEqual(await ended, [0, null], printed)
}
