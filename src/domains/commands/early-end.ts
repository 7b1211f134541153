import type { WaitingClock } from '../../kernel/clock.ts'

/** Why a run is ended before its program ends by itself. */
export type EndCause = 'timed_out' | 'cancelled' | 'incomplete'

/** Ends a run early: with SIGTERM, and some time later with SIGKILL. The first cause counts. */
export class EarlyEnd {
  readonly #clock: WaitingClock
  readonly #done: AbortSignal
  readonly #terminate = new AbortController()
  readonly #kill = new AbortController()
  #cause: EndCause | undefined

  /** `done` is aborted when the run is over. */
  constructor(clock: WaitingClock, done: AbortSignal) {
    this.#clock = clock
    this.#done = done
  }

  /** Undefined for a run that ends by itself. */
  get cause(): EndCause | undefined {
    return this.#cause
  }

  get terminate(): AbortSignal {
    return this.#terminate.signal
  }

  get kill(): AbortSignal {
    return this.#kill.signal
  }

  end(cause: EndCause, killAfterMs: number): void {
    if (this.#cause || this.#done.aborted) return
    this.#cause = cause
    this.#terminate.abort()
    void this.#clock.wait(killAfterMs, this.#done).then(() => this.#kill.abort())
  }
}
