import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { eventually } from './eventually.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/platform.ts')
const LISTENING = /^mock \w+ listening on (127\.\d+\.\d+\.\d+:\d+) \([^\n]*\)\n/

export interface MockProgram extends AsyncDisposable {
  readonly url: string
  stdout(): string
  stderr(): string
  /** Closes the reading end of the pipe. */
  closeStderr(): void
  signal(signal: NodeJS.Signals): void
  /** Sends the signal; resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `platform mock-…` as a process of its own. */
export async function startMockProgram(
  command: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<MockProgram> {
  const child = spawn(process.execPath, [PROGRAM, command], {
    cwd,
    // The directories in which Node.js and libraries leave files
    env: { PATH: process.env['PATH'], HOME: cwd, TMPDIR: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  let url: string
  try {
    await eventually('the mock listens', () => output.stderr.includes('\n') || child.exitCode !== null)
    url = urlOf(output.stderr)
  } catch (error) {
    await end('SIGKILL')
    throw error
  }
  return {
    url,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    closeStderr: () => void child.stderr.destroy(),
    signal: (signal) => void child.kill(signal),
    end,
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}

function urlOf(printed: string): string {
  const address = LISTENING.exec(printed)?.[1]
  assert.ok(address, printed)
  return `http://${address}`
}
