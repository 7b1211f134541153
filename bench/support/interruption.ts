import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Aborted by the first signal, so that what was started is stopped before the process ends. A second one ends it at once. */
export function interruption(): AbortSignal {
  const interrupted = new AbortController()
  for (const name of SIGNALS) {
    process.on(name, () => {
      // Without a handler a signal ends the process without the event `exit`, which closes what is open.
      if (interrupted.signal.aborted) process.exit(128 + constants.signals[name])
      interrupted.abort(new Error('interrupted'))
    })
  }
  return interrupted.signal
}
