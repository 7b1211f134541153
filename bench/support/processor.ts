import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, in ticks of which there are 100 a second on Linux
const TICKS_PER_SECOND = 100
const USER_TIME = 11
const SYSTEM_TIME = 12

/** The processor time that the process has used until now, in seconds. */
export function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program comes before, and may have spaces in it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) / TICKS_PER_SECOND
}

const LOOK_EVERY_MS = 200
const QUIET_SECONDS = 0.02

/** Waits until the process has little to do, so that what it does about one slice is not counted in the next. */
export async function untilQuiet(pid: number): Promise<void> {
  for (let before = -1; ;) {
    const now = processorSeconds(pid)
    if (before >= 0 && now - before <= QUIET_SECONDS) return
    before = now
    await pause(LOOK_EVERY_MS)
  }
}
