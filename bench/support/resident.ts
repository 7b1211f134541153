import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** How much memory of that process is resident now. */
export function residentMegabytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  if (kibibytes === undefined) throw new Error(`/proc/${pid}/status has no VmRSS`)
  return Number(kibibytes) / 1_024
}

const LOOK_EVERY_MS = 10

/** The most memory that the process had at any look while something was under way. Rejects when the process ends. */
export async function peakMegabytes(pid: number, work: Promise<unknown>): Promise<number> {
  let peak = 0
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      peak = Math.max(peak, residentMegabytes(pid))
      await pause(LOOK_EVERY_MS)
    }
  }
  const watching = watch()
  try {
    // Work that waits for a process that has ended would not end.
    await Promise.race([work, watching])
  } finally {
    isOver = true
    await watching
  }
  return peak
}
