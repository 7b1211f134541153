import type { Log } from './log.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
// What is on the wire when the signal comes gets so long to be answered: a notification whose answer is not waited for
// may be told twice.
const GRACE_MS = 500

export interface Stop {
  /** Aborted as soon as a signal comes. */
  readonly requested: AbortSignal
  /** Aborted a moment later: what is still under way is cut off. */
  readonly hurry: AbortSignal
  /** Leaves the signals to their defaults again. */
  release(): void
}

/** Turns SIGTERM and SIGINT into an orderly end of the round. */
export function stopOnSignal(log: Log): Stop {
  const requested = new AbortController()
  const hurry = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (requested.signal.aborted) return
    log.info('stopping', { signal })
    requested.abort()
    timer = setTimeout(() => hurry.abort(), GRACE_MS)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    requested: requested.signal,
    hurry: hurry.signal,
    release() {
      clearTimeout(timer)
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
