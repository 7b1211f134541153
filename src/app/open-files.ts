import { readFileSync } from 'node:fs'

// Each connection needs an open file, and so does each file of the database and each thread that reads it.
const FEWEST = 1_024

/** What to say of a process that may open few files; Node.js ends the connections beyond them without a word. */
export function openFilesNotice(limits = readLimits()): string | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (soft === undefined || Number(soft) >= FEWEST) return undefined
  return `this process may open ${soft} files, and ends the connections beyond them: allow it ${FEWEST} or more (LimitNOFILE= of the unit, ulimit -n)`
}

/** Empty where there is no such file, as on systems other than Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
