import type { ComponentChildren } from 'preact'
import { localNumber, localTime } from '../i18n/local.ts'
import { partWords } from './part-words.ts'
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
  /** How many entries are shown at once; the others are behind a button. */
  readonly most?: number | undefined
}

/** What happened to an object, in the order of the entries. */
export function Timeline({ label, entries, empty = '', most = Infinity }: TimelineProps) {
  if (entries.length === 0) return <p class="muted">{empty}</p>
  const others = entries.slice(most)
  return (
    <>
      <EntryList label={label} entries={entries.slice(0, most)} />
      {others.length > 0 && (
        <details>
          <summary>{partWords().moreEntries(localNumber(others.length))}</summary>
          <EntryList label={label} entries={others} />
        </details>
      )}
    </>
  )
}

function EntryList({ label, entries }: Pick<TimelineProps, 'label' | 'entries'>) {
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
