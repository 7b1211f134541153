import { fstatSync } from 'node:fs'
import type { Environment } from './env.ts'

/** Whether what is written to this file descriptor goes to the journal of systemd: $JOURNAL_STREAM in systemd.exec(5). */
export function isJournal({ JOURNAL_STREAM: stream }: Environment, fd: number): boolean {
  // A child of the service has the variable, too, and an output of its own.
  if (!stream) return false
  try {
    const { dev, ino } = fstatSync(fd)
    return stream === `${dev}:${ino}`
  } catch {
    return false
  }
}
