import { waitFor } from '../../clients/typescript/src/timing.ts'

/** The time of the browser, in epoch milliseconds. */
export const browserClock = { now: () => Date.now() }

/** What the polling needs of a browser. */
export const browserTiming = {
  wait: waitFor,
  isHidden: () => document.hidden,
  untilVisible: (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted || !document.hidden) return resolve()
      const look = () => {
        if (document.hidden && !signal.aborted) return
        document.removeEventListener('visibilitychange', look)
        signal.removeEventListener('abort', look)
        resolve()
      }
      document.addEventListener('visibilitychange', look)
      signal.addEventListener('abort', look)
    }),
}
