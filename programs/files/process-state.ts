import { readFileSync } from 'node:fs'

// Zombies and dead processes, see proc_pid_stat(5).
const ENDED_STATES = ['Z', 'X']

interface ProcessState {
  readonly hasEnded: boolean
  readonly start: string
}

/**
 * When a running process has started, in ticks since the boot (field 22 of /proc/pid/stat). One that was killed keeps its
 * number until its parent reads how it ended, which may never happen in a container without an init: it does not run.
 */
export function startOf(pid: number): string | undefined {
  const state = readState(pid)
  return state?.hasEnded === false ? state.start : undefined
}

/** Undefined without such a process, and where it cannot be seen. */
function readState(pid: number): ProcessState | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // Fields are counted after the name of the program, which is in parentheses and may contain any character.
  const [state = '', ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return stat === undefined ? undefined : { hasEnded: ENDED_STATES.includes(state), start: fields[18] ?? '' }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
