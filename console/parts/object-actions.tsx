import type { ComponentChildren } from 'preact'
import { isAsking } from './confirm.tsx'
import { partWords } from './part-words.ts'
import { StatusBadge, type StatusBadgeProps } from './status-badge.tsx'
import { useActionLock } from './use-action-lock.ts'

export interface ObjectAction {
  readonly title: string
  /** Shown in place of the title while the action runs; the button stays the same and keeps the focus. */
  readonly runningTitle?: string | undefined
  readonly isDestructive?: boolean
  /** It is not possible now; the button stays where it is, and keeps the focus. */
  readonly isDisabled?: boolean
  /** No other action can begin before its promise ends. */
  readonly run: () => unknown
}

export interface ObjectActionsProps {
  /** The state of the object. */
  readonly status?: StatusBadgeProps
  /** What the user may do; false stands for what the roles or the state do not allow. */
  readonly actions: readonly (ObjectAction | false)[]
  /** The dialogs of the actions. */
  readonly children?: ComponentChildren
}

/** The state of an object, and the buttons of what can be done with it, one at a time. */
export function ObjectActions({ status, actions, children }: ObjectActionsProps) {
  const allowed = actions.filter((action) => action !== false)
  const { running, isLocked, start } = useActionLock(allowed.map(({ title }) => title).join('\n'))
  return (
    <div class="actions">
      {status && <StatusBadge {...status} />}
      {allowed.map(({ title, runningTitle, isDestructive, isDisabled = false, run }) => (
        <button
          key={title}
          class={isDestructive ? 'button button-danger' : 'button'}
          type="button"
          aria-disabled={isDisabled || isLocked}
          aria-busy={running === title}
          onClick={() => isDisabled || start(title, run)}
        >
          {runningTitle ?? title}
        </button>
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
