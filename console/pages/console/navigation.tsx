import { useLocation } from 'preact-iso/router'
import { localTimeZone } from '../../i18n/local.ts'
import { Icon } from '../../parts/icon.tsx'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { useNavigationMarks, type NavigationMark } from './navigation-marks.ts'
import type { ConsolePage } from './pages.ts'
import { session } from './platform.ts'
import { isPathOf, pathOf } from './view.ts'
import { shellWords } from './shell-words.ts'

export interface NavigationProps {
  readonly pages: readonly ConsolePage[]
  readonly onChoice?: () => void
}

/** The pages that the user may open. */
export function Navigation({ pages, onChoice }: NavigationProps) {
  const { path } = useLocation()
  const marks = useNavigationMarks()
  const bearer = session.bearer.value
  return (
    <nav class="navigation" aria-label={shellWords().navigation}>
      <ul>
        {pages.map((page) => (
          <li key={page.name}>
            <a
              class="navigation-link"
              href={pathOf(page)}
              onClick={onChoice}
              {...(isPathOf(page, path) && { 'aria-current': 'page' as const })}
            >
              <Icon name={page.icon} />
              <span class="navigation-title">{page.title()}</span>
              <Mark mark={marks.get(page.name)} />
            </a>
          </li>
        ))}
      </ul>
      {bearer?.name && (
        <p class="navigation-note navigation-bearer">
          {topBarWords().signedInAs} <bdi>{bearer.name}</bdi>
        </p>
      )}
      <p class="navigation-note">{shellWords().timeZone(localTimeZone())}</p>
    </nav>
  )
}

function Mark({ mark }: { readonly mark: NavigationMark | undefined }) {
  if (!mark) return null
  return (
    <span class="navigation-mark" title={mark.label}>
      <span aria-hidden="true">{mark.text}</span>
      <span class="visually-hidden"> {mark.label}</span>
    </span>
  )
}
