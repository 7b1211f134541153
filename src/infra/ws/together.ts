import { setTimeout as sleep } from 'node:timers/promises'

export interface TogetherOptions {
  /** How long nobody may come, in milliseconds, for those who are there to go on. */
  readonly pauseMs: number
  /** How many pauses are waited for at most, though others come in each. */
  readonly pauses: number
}

/**
 * Lets a crowd go on in the same turn of the event loop. Node.js accepts one connection in a turn, so without it each
 * session of a crowd would be registered, and the disk waited for, by itself.
 */
export function createTogether({ pauseMs, pauses }: TogetherOptions): () => Promise<void> {
  let gathered = 0
  let gathering: Promise<void> | undefined

  const gather = async () => {
    for (let seen = 0, waited = 0; seen < gathered && waited < pauses; waited++) {
      seen = gathered
      await sleep(pauseMs)
    }
    gathered = 0
    gathering = undefined
  }

  return () => {
    gathered++
    gathering ??= gather()
    return gathering
  }
}
