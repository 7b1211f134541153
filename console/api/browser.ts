import { waitFor } from '../../clients/typescript/src/timing.ts'
import { ServerClock } from './server-clock.ts'

/** The time of the platform. */
export const serverClock = new ServerClock(() => Date.now())

/** Milliseconds of a clock that only goes forward. */
export const monotonic = () => performance.now()

/** Calls `fetch`, and sets {@link serverClock} by the response. */
export async function fetchHere(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init)
  serverClock.observe(response.headers)
  return response
}

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
