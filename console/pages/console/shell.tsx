import { useSignal } from '@preact/signals'
import { Route, Router, useLocation } from 'preact-iso/router'
import { useEffect } from 'preact/hooks'
import { KeyHelp } from '../../parts/actions/keys.tsx'
import { Palette } from '../../parts/actions/palette.tsx'
import { useKeyboard } from '../../parts/actions/use-keyboard.ts'
import { Modal } from '../../parts/modal.tsx'
import { partWords } from '../../parts/part-words.ts'
import { EmptyState } from '../../parts/states.tsx'
import { Navigation } from './navigation.tsx'
import { PAGES, type ConsolePage } from './pages.ts'
import { CONSOLE_PATH, pathOf } from './view.ts'
import { session } from './platform.ts'
import { ShellBar } from './shell-bar.tsx'
import { shellWords } from './shell-words.ts'
import { EndWarning } from './sign-in/end-warning.tsx'
import { suggestObjects, suggestSearches } from './suggestions.ts'
import { useKeptScroll } from './use-kept-scroll.ts'
import { useShellActions, type Overlay } from './use-shell-actions.ts'

/** What is around every page. A page that the roles of the user do not allow does not exist. */
export function Shell() {
  const { route } = useLocation()
  const overlay = useSignal<Overlay | null>(null)
  const pages = PAGES.filter(({ operation }) => session.may(operation))
  const words = shellWords()
  const close = () => (overlay.value = null)
  useKeyboard()
  useShellActions(pages, overlay)
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
      {overlay.value === 'palette' && (
        <Palette
          suggest={(text) => [...suggestObjects(text, route), ...suggestSearches(text, route)]}
          none={words.nothingFound}
          onClose={close}
        />
      )}
      {overlay.value === 'keys' && <KeyHelp onClose={close} />}
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
          {partWords().loading}
        </p>
      )}
      <Router
        onRouteChange={onRouteChange}
        onLoadStart={() => (isLoading.value = true)}
        onLoadEnd={() => (isLoading.value = false)}
      >
        <Route path={CONSOLE_PATH} component={FirstPage} first={first} />
        {pages.map((page) => (
          <Route key={page.name} path={`${pathOf(page)}/:id?`} component={page.component} />
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
  useEffect(() => route(pathOf(first), true), [])
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
