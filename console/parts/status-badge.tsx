/** How a state is judged: shown as a colour and as the form of the mark, never as a colour alone. */
export type Tone = 'good' | 'active' | 'warning' | 'danger' | 'quiet'

/** How severe something is: these differ in form and colour, and nothing else has their colours beside them. */
export type SeverityTone = 'critical' | 'high' | 'error' | 'warning' | 'notice'

/** The states without a colour. */
type PlainTone = 'raised' | 'taken' | 'held' | 'ended'

export type BadgeTone = Tone | SeverityTone | PlainTone

const MARKS: Readonly<Record<BadgeTone, string>> = {
  good: 'M3 7.5 6 10.5 11 4',
  active: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z',
  danger: 'M3.5 3.5 10.5 10.5M10.5 3.5 3.5 10.5',
  quiet: 'M3 7H11',
  // An octagon, two arrows up, a diamond, a triangle and a circle.
  critical: 'M4.6 1.2H9.4L12.8 4.6V9.4L9.4 12.8H4.6L1.2 9.4V4.6zM7 4.2V7.4M7 9.9V10',
  high: 'M2.5 7 7 2.5 11.5 7M2.5 12 7 7.5 11.5 12',
  error: 'M7 1 13 7 7 13 1 7zM7 4.4V7.4M7 9.5V9.6',
  warning: 'M7 1.6 13 12.4H1zM7 5.4V8.4M7 10.4V10.5',
  notice: 'M7 1.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM7 6.6V10M7 4.2V4.3',
  raised: 'M7 4.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5z',
  taken: 'M7 4a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM1.5 7H4M10 7H12.5',
  held: 'M4.5 3V11M9.5 3V11',
  ended: 'M3 7.5 6 10.5 11 4',
}

export interface StatusBadgeProps {
  readonly tone: BadgeTone
  readonly label: string
}

export function StatusBadge({ tone, label }: StatusBadgeProps) {
  return (
    <span class={`badge badge-${tone}`}>
      <svg viewBox="0 0 14 14" width="13" height="13" aria-hidden="true">
        <path d={MARKS[tone]} />
      </svg>
      {label}
    </span>
  )
}
