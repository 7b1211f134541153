import { useLocation } from 'preact-iso/router'
import { localTimeZone } from '../../i18n/local.ts'
import { Icon } from '../../parts/icon.tsx'
import type { ConsolePage } from './pages.ts'
import { pathOf } from './view.ts'
import { shellWords } from './shell-words.ts'

export interface NavigationProps {
  readonly pages: readonly ConsolePage[]
  readonly onChoice?: () => void
}

/** The pages that the user may open. */
export function Navigation({ pages, onChoice }: NavigationProps) {
  const { path } = useLocation()
  const isCurrent = (page: ConsolePage) => `${path}/`.startsWith(`${pathOf(page)}/`)
  return (
    <nav class="navigation" aria-label={shellWords().navigation}>
      <ul>
        {pages.map((page) => (
          <li key={page.name}>
            <a
              class="navigation-link"
              href={pathOf(page)}
              onClick={onChoice}
              {...(isCurrent(page) && { 'aria-current': 'page' as const })}
            >
              <Icon name={page.icon} />
              {page.title()}
            </a>
          </li>
        ))}
      </ul>
      <p class="navigation-note">{shellWords().timeZone(localTimeZone())}</p>
    </nav>
  )
}
