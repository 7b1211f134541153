/** How a state is judged: shown as a colour and as the form of the mark, never as a colour alone. */
export type Tone = 'good' | 'active' | 'warning' | 'danger' | 'quiet'

/** `critical` stands out from everything else in a list. */
export type BadgeTone = Tone | 'critical'

const MARKS: Readonly<Record<BadgeTone, string>> = {
  good: 'M3 7.5 6 10.5 11 4',
  active: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z',
  warning: 'M7 2 12.5 11.5H1.5z',
  danger: 'M3.5 3.5 10.5 10.5M10.5 3.5 3.5 10.5',
  critical: 'M7 2V8M7 11.5V11.6',
  quiet: 'M3 7H11',
}

export interface StatusBadgeProps {
  readonly tone: BadgeTone
  readonly label: string
}

export function StatusBadge({ tone, label }: StatusBadgeProps) {
  return (
    <span class={`badge badge-${tone}`}>
      <svg viewBox="0 0 14 14" width="12" height="12" aria-hidden="true">
        <path d={MARKS[tone]} />
      </svg>
      {label}
    </span>
  )
}
