import type { Tx } from './store.ts'

// After work on this many rows, some milliseconds, a transaction continues in the next turn of the event loop. ReadGate allows
// more rows, because a change costs more than a read.
const TURN_LIMIT = 250

/** Counts the work of one transaction in this turn of the event loop. */
export class TurnCost {
  #cost = 0

  /** Counts work; when it is enough for this turn, returns a promise that resolves in the next one. */
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
