import { spawnSync } from 'node:child_process'

interface RunOptions {
  readonly cwd?: string
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program and returns what it printed on standard output; throws what it printed when it fails. */
export function runToEnd(program: string, args: readonly string[], { cwd, env }: RunOptions = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 28,
  })
  if (error) throw error
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
}
