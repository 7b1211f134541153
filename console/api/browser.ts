/** The time of the browser, in epoch milliseconds. */
export const browserClock = { now: () => Date.now() }

/** What the polling needs of a browser. */
export const browserTiming = {
  wait: (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done)
    }),
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
