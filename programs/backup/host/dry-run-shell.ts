import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { searchPath } from '../env.ts'
import { formatCommand, type CommandOptions, type CommandOutcome, type Shell } from './shell.ts'

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
