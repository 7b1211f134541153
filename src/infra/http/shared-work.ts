import { setTimeout as sleep } from 'node:timers/promises'
import { endOfTurn } from '../../kernel/waiting.ts'
import { SECOND } from '../../kernel/time.ts'

export interface SharedWorkOptions {
  /** Monotonic, in milliseconds. */
  readonly now?: () => number
  readonly pause?: (milliseconds: number) => Promise<unknown>
}

// A pause is so many times as long as the run before it.
const PAUSES_PER_RUN = 9
const MAX_PAUSE_MS = SECOND / 4

/**
 * Work that is done once for all callers that wait for it, never on what was read before they called. It takes a tenth of
 * the time at most, however many callers there are, and they go on one in a turn of the event loop: hundreds of large
 * answers that are written at once would make everybody else wait.
 */
export function sharedWork<T>(
  work: () => Promise<T>,
  { now = () => performance.now(), pause = sleep }: SharedWorkOptions = {},
): () => Promise<T> {
  let next: Promise<T> | undefined
  let previous: Promise<unknown> = Promise.resolve()
  let freeAt = 0
  let lastTurn = Promise.resolve()
  const run = async () => {
    await previous
    const wait = Math.min(freeAt - now(), MAX_PAUSE_MS)
    await (wait > 0 ? pause(wait) : endOfTurn())
    next = undefined
    const startedAt = now()
    try {
      return await work()
    } finally {
      freeAt = now() + PAUSES_PER_RUN * (now() - startedAt)
    }
  }
  return async () => {
    if (!next) {
      next = run()
      previous = next.catch(() => undefined)
    }
    const done = await next
    await (lastTurn = lastTurn.then(endOfTurn))
    return done
  }
}
