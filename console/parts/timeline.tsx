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

export interface TimelineProps {
  readonly label: string
  readonly entries: readonly TimelineEntry[]
}

/** What happened to an object, in the order of the entries. */
export function Timeline({ label, entries }: TimelineProps) {
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
