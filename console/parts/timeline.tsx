import type { ComponentChildren } from 'preact'
import { localTime } from '../i18n/local.ts'
import type { Tone } from './status-badge.tsx'

export interface TimelineEntry {
  readonly key: string
  /** As the API shows it. */
  readonly at: string
  readonly tone: Tone
  readonly title: ComponentChildren
  readonly note?: ComponentChildren
}

interface TimelineProps {
  readonly label: string
  readonly entries: readonly TimelineEntry[]
  /** Shown without entries. */
  readonly empty?: string
}

/** What happened to an object, in the order of the entries. */
export function Timeline({ label, entries, empty = '' }: TimelineProps) {
  if (entries.length === 0) return <p class="muted">{empty}</p>
  return (
    <ol class="timeline" aria-label={label}>
      {entries.map(({ key, at, tone, title, note }) => (
        <li key={key} class={`timeline-entry timeline-${tone}`}>
          <div class="timeline-title">{title}</div>
          <time class="muted" dateTime={at}>
            {localTime(at)}
          </time>
          {note && <div class="timeline-note">{note}</div>}
        </li>
      ))}
    </ol>
  )
}
