export interface Backoff {
  /** The first wait, in milliseconds. */
  readonly initialMs: number
  /** No wait is longer than this. */
  readonly maximumMs: number
}

/**
 * Milliseconds to wait before retry `attempt` (0 = the first one): exponential up to the maximum, with jitter over the
 * upper half, so that clients that failed at the same time do not retry at the same time.
 */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(backoff.maximumMs, backoff.initialMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}

/** A sleep that `interrupt` ends early. An interrupt while nothing sleeps ends the next sleep at once. */
export class InterruptibleSleep {
  #isInterrupted = false
  #wakeUp: (() => void) | undefined

  interrupt(): void {
    this.#isInterrupted = true
    this.#wakeUp?.()
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isInterrupted) await this.#wait(milliseconds)
    this.#wakeUp = undefined
    this.#isInterrupted = false
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wakeUp = () => {
        clearTimeout(timer)
        // At the end of the turn, so that all messages written in it are sent in one batch.
        setImmediate(resolve)
      }
    })
  }
}

let turn: Promise<void> | undefined

/**
 * Resolves at the end of the current turn of the event loop, for all callers of the turn together. Messages that are sent
 * together wake up the process at the other end once instead of once each; waking it up takes longer than sending a small
 * message.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}
