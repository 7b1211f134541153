import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

interface LinkChoiceItem {
  readonly title: string
  readonly href: string
  readonly isCurrent: boolean
  readonly icon?: IconName
}

export interface LinkChoiceProps {
  readonly label: string
  readonly choices: readonly LinkChoiceItem[]
}

/** Links to the same page in another view; one is the present one. */
export function LinkChoice({ label, choices }: LinkChoiceProps) {
  return (
    <nav class="link-choice" aria-label={label}>
      {choices.map(({ title, href, isCurrent, icon }) => (
        <a
          key={href}
          class="button button-quiet"
          href={href}
          {...(isCurrent && { 'aria-current': 'page' as const })}
        >
          {icon && <Icon name={icon} />}
          {title}
        </a>
      ))}
    </nav>
  )
}
