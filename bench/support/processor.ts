import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, in ticks of which there are 100 a second on Linux
const TICKS_PER_SECOND = 100
/** In a shorter time, in milliseconds, the counters may not move at all. */
export const SHORTEST_COUNTED_MS = 250
const PARENT = 1
const OWN_TIMES = [11, 12]
const TIMES_OF_ENDED_CHILDREN = [13, 14]

/** The processor time that the process has used until now, in seconds. */
export function processorSeconds(pid: number): number {
  return secondsOf(pid, OWN_TIMES)
}

/** The processor time of the process and its children, also of those that have ended, in seconds. */
export function familySeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  const own = secondsOf(pid, [...OWN_TIMES, ...TIMES_OF_ENDED_CHILDREN])
  return children.reduce((sum, child) => sum + secondsIfRunning(Number(child)), own)
}

/** A process of the database may end while the others are read. */
function secondsIfRunning(pid: number): number {
  try {
    return processorSeconds(pid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

export function parentOf(pid: number): number {
  return Number(statOf(pid)[PARENT])
}

function secondsOf(pid: number, times: readonly number[]): number {
  const fields = statOf(pid)
  return times.reduce((sum, field) => sum + Number(fields[field]), 0) / TICKS_PER_SECOND
}

/** The fields after the name of the program, which may have spaces in it. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
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
