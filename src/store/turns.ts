import type { Tx } from './store.ts'

// In rows, as in ReadGate, but a change costs more than a read: after so much work, some milliseconds, a transaction goes on
// in the next turn of the event loop.
const TURN_LIMIT = 250

/** Counts the work of one transaction in this turn of the event loop. */
export class TurnCost {
  #cost = 0

  /** Adds to it; the promise resolves in the next turn when it is enough for this one. */
  spend(rows: number): Promise<void> | undefined {
    this.#cost += rows
    if (this.#cost < TURN_LIMIT) return undefined
    this.#cost = 0
    return new Promise((resolve) => setImmediate(resolve))
  }
}

/** Runs a long computation in the turns of a transaction. Each step yields how much it has done, in rows. */
export async function inTurns<T>(tx: Pick<Tx, 'spend'>, steps: Generator<number, T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await tx.spend(step.value)
  }
}
