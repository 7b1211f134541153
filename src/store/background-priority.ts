import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

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
