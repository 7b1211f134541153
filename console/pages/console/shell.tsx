import { useSignal, type Signal } from '@preact/signals'
import { ErrorBoundary } from 'preact-iso/lazy'
import { Route, Router, useLocation } from 'preact-iso/router'
import { useEffect, useRef } from 'preact/hooks'
import type { LiveState } from '../../api/live.ts'
import { language, LANGUAGE_NAMES, LANGUAGES } from '../../i18n/language.ts'
import { useActions, type Action } from '../../parts/actions/actions.ts'
import { useKeyboard } from '../../parts/actions/use-keyboard.ts'
import { Icon } from '../../parts/icon.tsx'
import { newItemAddress, openNewItem } from '../../parts/list/new-item.tsx'
import type { LivenessProps, LivenessTone } from '../../parts/liveness.tsx'
import { Modal } from '../../parts/modal.tsx'
import { partWords } from '../../parts/part-words.ts'
import {
  writeLocal,
  readLocal,
  chooseLanguage,
  chooseTheme,
  theme,
  THEMES,
  type Theme,
} from '../../parts/preferences.ts'
import { EmptyState } from '../../parts/states.tsx'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { TopBar } from '../../parts/top-bar.tsx'
import { useAlertNotices } from './alerts/alert-notices.tsx'
import { lazyPart } from './lazy-page.ts'
import { Navigation } from './navigation.tsx'
import { newItemTitle, pageTitle } from './page-words.ts'
import { PAGES, type ConsolePage } from './pages.ts'
import { session, live } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { EndWarning } from './sign-in/end-warning.tsx'
import { signOut } from './sign-out.ts'
import { useMentionNotices } from './tickets/mention-notices.ts'
import { CONSOLE_PATH, pathOf, isPathOf } from './view.ts'

const TOUR_SEEN = 'platform.tour'

const LazyOverlay = lazyPart(async () => (await import('./overlays.tsx')).OverlayInFront)
// The first page is there by then.
const PRELOAD_MS = 2_000

/** Loads what a key may open soon, so that the first letters that are typed there are not lost. */
function usePreloadedOverlay(): void {
  useEffect(() => {
    const timer = setTimeout(() => void LazyOverlay.preload(), PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [])
}

/** What is around every page. A page that the roles of the user do not allow does not exist. */
export function Shell() {
  // The first visit of this browser begins with the tour.
  const overlay = useSignal<Overlay | null>(readLocal(TOUR_SEEN) === null ? 'tour' : null)
  const pages = PAGES.filter(({ operation }) => session.may(operation))
  const words = shellWords()
  const close = () => {
    if (overlay.value === 'tour') writeLocal(TOUR_SEEN, 'yes')
    overlay.value = null
  }
  useKeyboard()
  usePreloadedOverlay()
  useShellActions(pages, overlay)
  useAlertNotices()
  useMentionNotices()
  return (
    <div class="shell">
      <a class="skip-link" href="#content">
        {words.skip}
      </a>
      <ShellBar overlay={overlay} />
      <aside class="side">
        <Navigation pages={pages} />
      </aside>
      <main class="content" id="content" tabIndex={-1}>
        <EndWarning />
        <Views pages={pages} />
      </main>
      <ErrorBoundary>
        {overlay.value !== null && overlay.value !== 'menu' && (
          <LazyOverlay overlay={overlay.value} pages={pages} onClose={close} />
        )}
      </ErrorBoundary>
      {overlay.value === 'menu' && (
        <Modal label={words.menu} kind="side" onClose={close}>
          <Navigation pages={pages} onChoice={close} />
        </Modal>
      )}
    </div>
  )
}

function Views({ pages }: { readonly pages: readonly ConsolePage[] }) {
  const words = shellWords()
  const isLoading = useSignal(false)
  const onRouteChange = useKeptScroll()
  const { path } = useLocation()
  const [first] = pages
  if (!first) return <EmptyState icon="warning" title={words.noPages} />
  // The router throws on what it cannot decode.
  if (!isDecodable(path)) return <NotFound />
  return (
    <>
      {isLoading.value && (
        <p class="page-progress" role="status">
          <span class="visually-hidden">{partWords().loading}</span>
        </p>
      )}
      <Router
        onRouteChange={onRouteChange}
        onLoadStart={() => (isLoading.value = true)}
        onLoadEnd={() => (isLoading.value = false)}
      >
        <Route path={CONSOLE_PATH} component={FirstPage} first={first} />
        {pages.map((page) => (
          <Route key={page.name} path={`${pathOf(page.name)}/:id?`} component={page.component} />
        ))}
        <Route default component={NotFound} />
      </Router>
    </>
  )
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}

function FirstPage({ first }: { readonly first: ConsolePage }) {
  const { route } = useLocation()
  useEffect(() => route(pathOf(first.name), true), [])
  return <></>
}

function NotFound() {
  const { notFound, toFirstPage } = shellWords()
  return (
    <EmptyState icon="warning" title={notFound}>
      <a class="button" href={CONSOLE_PATH}>
        {toFirstPage}
      </a>
    </EmptyState>
  )
}

// As in parts/parts.css: from this width on, an object is beside its list.
const IS_BESIDE = '(width >= 1100px)'

interface Place {
  /** The page, and whether it shows an object. */
  readonly page: string
  readonly hasObject: boolean
  /** Where the page of the list begins. */
  readonly cursor: string | null
}

/**
 * Keeps the place in a list while objects of it are shown; the router scrolls to the top for each path. On a narrow screen an
 * object is shown alone, from its top, and the list gets its place back. Returns what the router calls after a new path.
 */
function useKeptScroll(): () => void {
  const place = useRef(placeOf(location))
  const top = useRef(0)
  const listTop = useRef(0)
  useEffect(() => {
    // Later than the call of the router: there it is still the position in front of the new path.
    const onScroll = () => (top.current = scrollY)
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  return () => {
    const from = place.current
    const to = placeOf(location)
    place.current = to
    if (from.page !== to.page) {
      listTop.current = 0
      return
    }
    if (from.cursor !== to.cursor && !to.hasObject) return scrollTo(0, 0)
    if (!from.hasObject) listTop.current = top.current
    const narrowTop = to.hasObject ? 0 : listTop.current
    scrollTo(0, matchMedia(IS_BESIDE).matches ? top.current : narrowTop)
  }
}

/** `/console/PAGE/ID` */
function placeOf({ pathname, search }: Location): Place {
  const [, , page = '', id = ''] = pathname.split('/')
  return { page, hasObject: id !== '', cursor: new URLSearchParams(search).get('cursor') }
}

/** The top bar, with the buttons of the menu and of the search. */
function ShellBar({ overlay }: { readonly overlay: Signal<Overlay | null> }) {
  const words = shellWords()
  return (
    <TopBar
      title={words.console}
      isHeading={false}
      liveness={livenessOf(live.state.value)}
      bearer={session.bearer.value}
      onSignOut={() => void signOut()}
      start={
        <button
          class="button button-icon menu-button"
          type="button"
          aria-label={words.menu}
          onClick={() => (overlay.value = 'menu')}
        >
          <Icon name="menu" />
        </button>
      }
    >
      <button class="search-button" type="button" onClick={() => (overlay.value = 'palette')}>
        <Icon name="search" />
        <span class="search-label">{words.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
    </TopBar>
  )
}

const TONES: Readonly<Record<LiveState, LivenessTone>> = {
  connecting: 'waiting',
  live: 'live',
  broken: 'stale',
  off: 'paused',
}

function livenessOf(state: LiveState): LivenessProps {
  const words = shellWords()
  return {
    tone: TONES[state],
    text: words.live[state],
    retry: state === 'broken' && { label: words.reconnect, run: () => live.resume() },
  }
}

/** What may be in front of the page. */
type Overlay = 'palette' | 'keys' | 'menu' | 'tour'

const LANGUAGE_KEYWORDS = 'language translate english chinese 语言 英文 中文'
const TOUR_KEYWORDS = 'help introduction guide 帮助 导览 引导'
const SIGN_OUT_KEYWORDS = 'logout log out logoff quit exit leave 退出 登出 注销'
const THEME_KEYWORDS: Readonly<Record<Theme, string>> = {
  system: 'theme appearance automatic 主题 外观 自动',
  light: 'theme appearance bright day white mode 主题 外观 浅色 明亮 白天',
  dark: 'theme appearance night black mode 主题 外观 深色 夜间 黑暗',
}

/** The actions that every page has. */
function useShellActions(pages: readonly ConsolePage[], overlay: Signal<Overlay | null>): void {
  const { path, route } = useLocation()
  useActions(() => {
    const words = shellWords()
    const { themes, signOut: signOutTitle } = topBarWords()
    return [
      ...pages.map((page) => ({
        title: words.goTo(pageTitle(page.name)),
        keywords: page.keywords,
        keys: `g ${page.key}`,
        run: () => route(pathOf(page.name)),
      })),
      ...newItemActions(pages, path, route),
      { title: words.openPalette, keys: 'Ctrl-k', isKeyOnly: true, run: () => (overlay.value = 'palette') },
      { title: words.showKeys, keys: '?', run: () => (overlay.value = 'keys') },
      { title: words.showTour, keywords: TOUR_KEYWORDS, run: () => (overlay.value = 'tour') },
      ...LANGUAGES.filter((wanted) => wanted !== language.value).map((wanted) => ({
        title: words.switchLanguage(LANGUAGE_NAMES[wanted]),
        keywords: LANGUAGE_KEYWORDS,
        run: () => chooseLanguage(wanted),
      })),
      ...THEMES.filter((wanted) => wanted !== theme.value).map((wanted) => ({
        title: words.useTheme(themes[wanted]),
        keywords: THEME_KEYWORDS[wanted],
        run: () => chooseTheme(wanted),
      })),
      { title: signOutTitle, keywords: SIGN_OUT_KEYWORDS, run: () => void signOut() },
    ]
  })
}

/** Opens the form for a new object: on the open page at once, on another page by its address. */
function newItemActions(
  pages: readonly ConsolePage[],
  path: string,
  route: (address: string) => void,
): readonly Action[] {
  return pages.flatMap(({ name, newItem, key }) => {
    if (!newItem || !session.may(newItem)) return []
    const run = isPathOf(name, path) ? openNewItem : () => route(newItemAddress(pathOf(name)))
    return [{ title: newItemTitle(name), keys: `n ${key}`, run }]
  })
}
