import type { ComponentChildren } from 'preact'
import { StatusBadge, type StatusBadgeProps } from './status-badge.tsx'

export interface ObjectAction {
  readonly title: string
  /** Shown in place of the title while the action runs; the button stays the same and keeps the focus. */
  readonly runningTitle?: string | undefined
  readonly isDestructive?: boolean
  /** It is not possible now; the button stays where it is, and keeps the focus. */
  readonly isDisabled?: boolean
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

/** The state of an object, and the buttons of what can be done with it. */
export function ObjectActions({ status, actions, children }: ObjectActionsProps) {
  const allowed = actions.filter((action) => action !== false)
  return (
    <div class="actions">
      {status && <StatusBadge {...status} />}
      {allowed.map(({ title, runningTitle, isDestructive, isDisabled, run }) => (
        <button
          key={title}
          class={isDestructive ? 'button button-danger' : 'button'}
          type="button"
          aria-disabled={isDisabled}
          onClick={() => void (isDisabled || run())}
        >
          {runningTitle ?? title}
        </button>
      ))}
      {children}
    </div>
  )
}
