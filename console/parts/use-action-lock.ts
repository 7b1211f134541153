import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

// People press again within half a second of the first click; a second leaves them time to see what the buttons do now.
const QUIET_MS = 1_000

export interface ActionLock {
  /** The title of the action that runs. */
  readonly running: string | null
  /** Whether an action runs, or the buttons have just changed. */
  readonly isLocked: boolean
  /** Runs the action unless the buttons are locked. */
  readonly start: (title: string, run: () => unknown) => void
}

/**
 * Keeps the buttons of one object from a second action by mistake: while one runs, and for a moment after it and after each
 * change of the `offer`, by which another button may have come under the pointer. An action runs as long as its promise.
 */
export function useActionLock(offer: string): ActionLock {
  const running = useSignal<string | null>(null)
  const isQuiet = useSignal(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const shown = useRef(offer)
  const beQuiet = () => {
    isQuiet.value = true
    clearTimeout(timer.current)
    timer.current = setTimeout(() => (isQuiet.value = false), QUIET_MS)
  }
  // Before the browser can report a click on the new buttons. Where no button was, nobody was about to press one.
  useLayoutEffect(() => {
    if (shown.current !== offer && shown.current !== '') beQuiet()
    shown.current = offer
  }, [offer])
  useEffect(() => () => clearTimeout(timer.current), [])
  const isLocked = () => running.value !== null || isQuiet.value
  const wait = async (title: string, ending: Promise<unknown>) => {
    running.value = title
    try {
      await ending
    } finally {
      running.value = null
      beQuiet()
    }
  }
  return {
    running: running.value,
    isLocked: isLocked(),
    start(title, run) {
      if (isLocked()) return
      const result = run()
      if (result instanceof Promise) void wait(title, result)
    },
  }
}
