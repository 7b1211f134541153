import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A program with its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]]

const run = promisify(execFile)

// setpriv(1) asks the kernel for the signal, then becomes the program.
const KILL_WITH_PARENT: CommandLine = ['setpriv', '--pdeathsig', 'KILL', '--']

let isSupported: Promise<boolean> | undefined

/**
 * The command with which the kernel kills the program when the thread that starts it ends. A process that is killed cannot
 * stop its programs itself, and they would go on writing. Without `setpriv` of util-linux it is the command itself.
 */
export async function killWithParent(command: CommandLine): Promise<CommandLine> {
  isSupported ??= canRun([...KILL_WITH_PARENT, 'true'])
  return (await isSupported) ? [...KILL_WITH_PARENT, ...command] : command
}

async function canRun([program, ...args]: CommandLine): Promise<boolean> {
  try {
    await run(program, args)
    return true
  } catch {
    return false
  }
}
