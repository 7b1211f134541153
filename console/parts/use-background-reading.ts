import type { ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { browserTiming, monotonic } from '../api/browser.ts'
import type { ApiFailure } from '../api/operations.ts'
import { startPolling } from '../api/poll.ts'

export interface BackgroundReading {
  /** Whether something that is shown may change without an event. */
  readonly mayChangeWithoutEvent: () => boolean
  /** How often it is read in any case, in milliseconds; without a value, only while it may change without an event. */
  readonly everyMs?: number | undefined
  readonly read: () => Promise<void>
  /** Why the last reading failed: then the next one comes later. */
  readonly failure: ReadonlySignal<ApiFailure | null>
}

/** Reads again every 2 seconds as long as that is needed; not while the page is hidden. */
export function useBackgroundReading(model: object, reading: BackgroundReading): void {
  const { mayChangeWithoutEvent, everyMs = Infinity, read, failure } = reading
  useEffect(() => {
    let dueAt = monotonic() + everyMs
    const polling = startPolling({
      ...browserTiming,
      onNews: () => undefined,
      async read() {
        if (mayChangeWithoutEvent() || monotonic() >= dueAt) {
          await read()
          dueAt = monotonic() + everyMs
        }
        const { message: reason } = failure.peek() ?? {}
        return reason === undefined ? { kind: 'answer', value: null } : { kind: 'failed', reason }
      },
    })
    return () => polling.stop()
  }, [model, everyMs])
}
