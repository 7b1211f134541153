import { signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useEffect, useRef } from 'preact/hooks'
import { defineWords, sameInBoth } from '../../i18n/language.ts'
import { localNumber, localTimeZone } from '../../i18n/local.ts'
import { Icon } from '../../parts/icon.tsx'
import { newItemAddress } from '../../parts/list/new-item.tsx'
import { writeLocal, readLocal } from '../../parts/preferences.ts'
import { useResource } from '../../parts/resource/use-resource.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { useBackgroundReading } from '../../parts/use-background-reading.ts'
import { decidableRequests } from './executions/requests.ts'
import { keptDraft } from './menus/kept-draft.ts'
import { PAGE_GROUPS, type ConsolePage, type PageGroup } from './pages.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { hasUnseenComments, mentioningTickets } from './tickets/mention-notices.ts'
import { isPathOf, pathOf } from './view.ts'
import { newItemTitle, pageTitle } from './page-words.ts'

const navigationWords = defineWords({
  awaiting: [(count: string) => `${count} await approval`, (count) => `${count} 项等待审批`],
  mentions: [
    (count: string) => `${count} with new comments mention you`,
    (count) => `${count} 个提到您的工单有新评论`,
  ],
  draft: ['an unsaved draft', '有未保存的草稿'],
  groups: {
    shop: ['Shop', '商店'],
    operations: ['Operations', '运维'],
    vpn: sameInBoth('VPN'),
    administration: ['Administration', '管理'],
  },
})

/** A mark at an entry of the navigation, such as a count. */
interface NavigationMark {
  readonly text: string
  /** The mark in words, for a screen reader. */
  readonly label: string
}

// Most roles receive no events of executions.
const EVERY_MS = 30_000

/** The marks by the names of the pages. */
function useNavigationMarks(): ReadonlyMap<string, NavigationMark> {
  const words = navigationWords()
  const requests = useResource(decidableRequests, '')
  const mentioning = useResource(mentioningTickets, '')
  useBackgroundReading(requests, {
    mayChangeWithoutEvent: () => false,
    everyMs: EVERY_MS,
    read: () => requests.refresh(),
    failure: requests.failure,
  })
  const { items = [], hasMore = false } = requests.value.value ?? {}
  const count = items.length
  const marks = new Map<string, NavigationMark>()
  if (count > 0) {
    const text = hasMore ? `${localNumber(count)}+` : localNumber(count)
    marks.set('executions', { text, label: words.awaiting(text) })
  }
  const unseen = mentioning.value.value?.items.filter(hasUnseenComments).length ?? 0
  if (unseen > 0) {
    const text = localNumber(unseen)
    marks.set('my-work', { text, label: words.mentions(text) })
  }
  if (keptDraft() !== null) marks.set('menus', { text: '•', label: words.draft })
  return marks
}

const FOLDED_GROUPS = 'platform.navigation'

/** The groups that the user has folded, also in an earlier visit. */
const foldedGroups = signal<ReadonlySet<string>>(new Set(readLocal(FOLDED_GROUPS)?.split(',')))

function toggleGroup(group: PageGroup): void {
  foldedGroups.value = foldedGroups.peek().symmetricDifference(new Set([group]))
  writeLocal(FOLDED_GROUPS, [...foldedGroups.value].join(','))
}

export interface NavigationProps {
  readonly pages: readonly ConsolePage[]
  readonly onChoice?: () => void
}

/** The pages that the user may open, in groups that fold. The open page stays in sight. */
export function Navigation({ pages, onChoice }: NavigationProps) {
  const { path } = useLocation()
  const marks = useNavigationMarks()
  const bearer = session.bearer.value
  const navigation = useRef<HTMLElement>(null)
  useEffect(() => {
    navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [path])
  const links = (linked: readonly ConsolePage[]) =>
    linked.map((page) => (
      <PageLink
        key={page.name}
        page={page}
        isCurrent={isPathOf(page.name, path)}
        mark={marks.get(page.name)}
        onChoice={onChoice}
      />
    ))
  return (
    <nav class="navigation" aria-label={shellWords().navigation} ref={navigation}>
      <ul>{links(pages.filter(({ group }) => group === undefined))}</ul>
      {PAGE_GROUPS.map((group) => {
        const pagesOfGroup = pages.filter((page) => page.group === group)
        if (pagesOfGroup.length === 0) return null
        const isOpen = !foldedGroups.value.has(group)
        const id = `${onChoice ? 'menu' : 'side'}-${group}`
        return (
          <div key={group} class="navigation-group">
            <button
              class="navigation-fold"
              type="button"
              aria-expanded={isOpen}
              aria-controls={id}
              onClick={() => toggleGroup(group)}
            >
              {navigationWords().groups[group]}
              <Icon name="older" />
            </button>
            {/* What is marked, and where the user is, stays in a folded group. */}
            <ul id={id}>
              {links(
                pagesOfGroup.filter((page) => isOpen || isPathOf(page.name, path) || marks.has(page.name)),
              )}
            </ul>
          </div>
        )
      })}
      {bearer?.name && (
        <p class="navigation-note navigation-bearer">
          {topBarWords().signedInAs} <bdi>{bearer.name}</bdi>
        </p>
      )}
      <p class="navigation-note">{shellWords().timeZone(localTimeZone())}</p>
    </nav>
  )
}

interface PageLinkProps {
  readonly page: ConsolePage
  readonly isCurrent: boolean
  readonly mark: NavigationMark | undefined
  readonly onChoice: (() => void) | undefined
}

/** The link to a page, and the link to its form for a new object. */
function PageLink({ page, isCurrent, mark, onChoice }: PageLinkProps) {
  const { newItem } = page
  return (
    <li>
      <a
        class="navigation-link"
        href={pathOf(page.name)}
        onClick={onChoice}
        {...(isCurrent && { 'aria-current': 'page' as const })}
      >
        <Icon name={page.icon} />
        <span class="navigation-title">{pageTitle(page.name)}</span>
        {mark && (
          <span class="navigation-mark" title={mark.label}>
            <span aria-hidden="true">{mark.text}</span>
            <span class="visually-hidden"> {mark.label}</span>
          </span>
        )}
      </a>
      {newItem && session.may(newItem) && (
        <a
          class="navigation-new"
          href={newItemAddress(pathOf(page.name))}
          aria-label={newItemTitle(page.name)}
          title={newItemTitle(page.name)}
          // The keyboard has `n` and the key of the page.
          tabIndex={-1}
          onClick={onChoice}
        >
          <Icon name="plus" />
        </a>
      )}
    </li>
  )
}
