import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useActions } from './actions/actions.ts'
import { Button } from './button.tsx'
import { isAsking } from './confirm.tsx'
import { partWords } from './part-words.ts'
import { StatusBadge, type StatusBadgeProps } from './status-badge.tsx'

export interface ObjectAction {
  readonly title: string
  /** Shown in place of the title while the action runs; the button stays the same and keeps the focus. */
  readonly runningTitle?: string | undefined
  readonly isDestructive?: boolean
  /** Whether it is not possible now; the button stays where it is, and keeps the focus. */
  readonly isDisabled?: boolean
  /** No other action can begin before its promise ends. */
  readonly run: () => unknown
}

export interface ObjectActionsProps {
  /** The state of the object. */
  readonly status?: StatusBadgeProps
  /**
   * What the user may do; false stands for what the roles or the state do not allow. The place of an action is the digit of its
   * key, so that a key does the same in every state.
   */
  readonly actions: readonly (ObjectAction | false)[]
  /** Whether the digit keys belong to another bar of the same object. */
  readonly hasNoKeys?: boolean
  /** The dialogs of the actions. */
  readonly children?: ComponentChildren
}

// A key for each digit.
const MOST_KEYS = 9

/** The state of an object, and the buttons of what can be done with it, one at a time. */
export function ObjectActions({ status, actions, hasNoKeys = false, children }: ObjectActionsProps) {
  const all = actions
    .map(
      (action, at) => action && { ...action, key: hasNoKeys || at >= MOST_KEYS ? undefined : String(at + 1) },
    )
    .filter((action) => action !== false)
  // Destructive actions come last: none is under the first click.
  const allowed = [
    ...all.filter((action) => !action.isDestructive),
    ...all.filter((action) => action.isDestructive),
  ]
  const { running, isLocked, start } = useActionLock(allowed.map(({ title }) => title).join('\n'))
  const bar = useRef<HTMLDivElement>(null)
  useActions(() =>
    all.flatMap(({ title, key }) => {
      if (key === undefined) return []
      const run = () => bar.current?.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`)?.focus()
      return [{ title: partWords().toButton(title), keys: key, isKeyOnly: true, run }]
    }),
  )
  return (
    <div class="actions object-actions" ref={bar}>
      {status && <StatusBadge {...status} />}
      {allowed.map(({ title, key, runningTitle, isDestructive, isDisabled = false, run }) => (
        <Button
          key={title}
          kind={isDestructive ? 'danger' : undefined}
          aria-keyshortcuts={key}
          aria-disabled={isDisabled || isLocked}
          aria-busy={running === title}
          onClick={() => isDisabled || start(title, run)}
        >
          {runningTitle ?? title}
        </Button>
      ))}
      {running !== null && !isAsking.value && <BusyMark />}
      {children}
    </div>
  )
}

/** The styles show it only after a moment, so that a quick answer does not flicker. */
function BusyMark() {
  return (
    <span class="busy-mark muted" role="status">
      <span class="spinner" aria-hidden="true" />
      {partWords().saving}
    </span>
  )
}

// People press again within half a second of the first click; a second leaves them time to see what the buttons do now.
const QUIET_MS = 1_000

interface ActionLock {
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
function useActionLock(offer: string): ActionLock {
  const running = useSignal<string | null>(null)
  const isQuiet = useSignal(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lastOffer = useRef(offer)
  const beQuiet = () => {
    isQuiet.value = true
    clearTimeout(timer.current)
    timer.current = setTimeout(() => (isQuiet.value = false), QUIET_MS)
  }
  // Before the browser can report a click on the new buttons. Where no button was, nobody was about to press one.
  useLayoutEffect(() => {
    if (lastOffer.current !== offer && lastOffer.current !== '') beQuiet()
    lastOffer.current = offer
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
