import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

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

const { PRIORITY_BELOW_NORMAL } = constants.priority

/** Lets other processes go before a process, so that requests do not wait for a backup. */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already.
  }
}

/** Lets other threads go before the calling thread, for the processor and the disk. Has no effect on other systems than Linux. */
export function lowerThreadPriority(): void {
  try {
    // Linux knows a thread by an id of the same kind as that of a process.
    const id = basename(readlinkSync('/proc/thread-self'))
    setPriority(Number(id), PRIORITY_BELOW_NORMAL)
    spawnSync('ionice', ['-c3', '-p', id], { stdio: 'ignore' })
  } catch {
    // The work is the same with the priority of every thread.
  }
}
