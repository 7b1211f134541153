/** What retries need of the platform that they run on. Tests pass their own. */
export interface Timing {
  /** Resolves after `milliseconds`, or as soon as the signal aborts; never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** From 0 to 1. */
  random(): number
  /** Milliseconds since some moment; never goes back. */
  now(): number
}

export const systemTiming: Timing = {
  wait: waitFor,
  random: Math.random,
  now: () => performance.now(),
}

/** Resolves after `milliseconds`, or as soon as the signal aborts; never rejects. */
export function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done)
  })
}

/** Aborts its signal when it was not reset for so long. */
export class Watchdog {
  readonly #abort = new AbortController()
  readonly #limitMs: number
  #timer: ReturnType<typeof setTimeout>

  constructor(limitMs: number) {
    this.#limitMs = limitMs
    this.#timer = this.#start()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  reset(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#start()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #start() {
    return setTimeout(() => this.#abort.abort(), this.#limitMs)
  }
}
