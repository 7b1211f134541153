import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../api/operations.ts'
import { Button } from './button.tsx'
import { describeFailure } from './failure-words.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { partWords } from './part-words.ts'

/** Shown until the first answer; the styles show it only after a moment, so that a quick answer does not flicker. */
export function Loading() {
  return (
    <p class="state state-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {partWords().loading}
    </p>
  )
}

export interface EmptyStateProps {
  readonly icon?: IconName
  readonly title: string
  /** Below the title: how to begin, or where to go. */
  readonly children?: ComponentChildren
}

export function EmptyState({ icon = 'inbox', title, children }: EmptyStateProps) {
  return (
    <div class="state">
      <Icon name={icon} />
      <p class="state-title">{title}</p>
      {children}
    </div>
  )
}

// Another attempt has the same outcome: the request is not valid, or the object does not exist.
const FINAL_STATUSES = [400, 404]

export interface FailedProps {
  readonly failure: ApiFailure
  readonly onRetry?: () => void
}

export function Failed({ failure, onRetry }: FailedProps) {
  return (
    <div class="state state-failed" role="alert">
      <Icon name="warning" />
      <p class="state-title">{describeFailure(failure)}</p>
      {onRetry && !FINAL_STATUSES.includes(failure.status) && (
        <Button onClick={onRetry}>{partWords().retry}</Button>
      )}
    </div>
  )
}
