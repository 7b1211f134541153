import type { ComponentChildren } from 'preact'
import { StatusBadge, type StatusBadgeProps } from './status-badge.tsx'

export interface Stat {
  readonly name: string
  readonly value: string
  readonly status?: StatusBadgeProps
  /** What the value consists of, or since when. */
  readonly note?: ComponentChildren
  /** Where the objects are. */
  readonly href?: string
}

/** Numbers that describe a part of the platform, side by side. */
export function Stats({ label, stats }: { readonly label: string; readonly stats: readonly Stat[] }) {
  return (
    <ul class="stats" aria-label={label}>
      {stats.map(({ name, value, status, note, href }) => (
        <li key={name} class={status ? `stat card stat-${status.tone}` : 'stat card'}>
          <div class="stat-head">
            {href === undefined ? (
              <span class="stat-name">{name}</span>
            ) : (
              <a class="stat-name" href={href}>
                {name}
              </a>
            )}
            {status && <StatusBadge {...status} />}
          </div>
          <p class="stat-value">{value}</p>
          {note && <p class="muted">{note}</p>}
        </li>
      ))}
    </ul>
  )
}
