import { setTimeout as sleep } from 'node:timers/promises'

export interface CoalescerOptions {
  /** A group continues when no call has joined it for this time, in milliseconds. */
  readonly pauseMs: number
  /** How many pauses a group waits at most. */
  readonly maxPauses: number
}

/**
 * Lets calls that arrive within a few milliseconds continue in the same turn of the event loop. Node.js accepts one
 * connection in each turn: without this, a thousand sessions that connect at once would need a thousand transactions, each
 * with its own write to disk.
 */
export class Coalescer {
  readonly #pauseMs: number
  readonly #maxPauses: number
  #joined = 0
  #group: Promise<void> | undefined

  constructor({ pauseMs, maxPauses }: CoalescerOptions) {
    this.#pauseMs = pauseMs
    this.#maxPauses = maxPauses
  }

  /** Resolves together with the calls that arrive meanwhile. */
  join(): Promise<void> {
    this.#joined++
    this.#group ??= this.#gather()
    return this.#group
  }

  async #gather(): Promise<void> {
    for (let seen = 0, pauses = 0; seen < this.#joined && pauses < this.#maxPauses; pauses++) {
      seen = this.#joined
      await sleep(this.#pauseMs)
    }
    this.#joined = 0
    this.#group = undefined
  }
}
