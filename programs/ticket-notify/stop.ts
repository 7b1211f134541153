import type { Log } from './log.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
// A notification whose answer is not waited for may be sent twice.
const GRACE_MS = 500

export interface Stop {
  /** Aborted when a signal comes. */
  readonly requested: AbortSignal
  /** Aborted a moment later: ends the requests that are still under way. */
  readonly abortSends: AbortSignal
  /** Restores the default action of the signals. */
  release(): void
}

/** Turns SIGTERM and SIGINT into an orderly end of the round. */
export function stopOnSignal(log: Log): Stop {
  const requested = new AbortController()
  const abortSends = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (requested.signal.aborted) return
    log.info('stopping', { signal })
    requested.abort()
    timer = setTimeout(() => abortSends.abort(), GRACE_MS)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    requested: requested.signal,
    abortSends: abortSends.signal,
    release() {
      clearTimeout(timer)
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
