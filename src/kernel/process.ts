/** Where a process is between its start and its end. */
export type Phase = 'starting' | 'running' | 'draining'

/** The phase of a process. It never goes back. */
export class Lifecycle {
  #phase: Phase = 'starting'

  get phase(): Phase {
    return this.#phase
  }

  /** Everything is started. Has no effect once the process drains. */
  run(): void {
    if (this.#phase === 'starting') this.#phase = 'running'
  }

  /** The process finishes the requests in progress and ends. */
  drain(): void {
    this.#phase = 'draining'
  }
}

// Zombies and dead processes, see proc_pid_stat(5).
const ENDED_STATES = ['Z', 'X']

/** The fields of `/proc/<pid>/stat` from the state on, which is the third one. */
export function fieldsFromState(stat: string): string[] {
  // The name of the program comes before, in parentheses, and may contain any character.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * Whether the process of this `/proc/<pid>/stat` has ended. A process that was killed keeps its number until its parent
 * reads how it ended; a container without an init may never do so.
 */
export function hasEnded(stat: string): boolean {
  return ENDED_STATES.includes(fieldsFromState(stat)[0] ?? '')
}
