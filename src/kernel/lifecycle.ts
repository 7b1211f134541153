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
