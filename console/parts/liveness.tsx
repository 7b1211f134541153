import { Button } from './button.tsx'

/** Whether a page is up to date; `waiting`: before the first response; `paused`: by intention. */
export type LivenessTone = 'live' | 'waiting' | 'paused' | 'stale'

export interface LivenessProps {
  readonly tone: LivenessTone
  readonly text: string
  /** Tries again at once. */
  readonly retry?: { readonly label: string; readonly run: () => void } | false
}

/** Whether the page is up to date: in words, and as a mark whose form differs, too. */
export function Liveness({ tone, text, retry }: LivenessProps) {
  return (
    <div class={`liveness liveness-${tone}`}>
      <p class="liveness-text" role="status">
        <span class="liveness-dot" aria-hidden="true" />
        {text}
      </p>
      {retry && (
        <Button kind="quiet" onClick={retry.run}>
          {retry.label}
        </Button>
      )}
    </div>
  )
}
