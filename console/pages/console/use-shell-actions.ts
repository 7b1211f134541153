import type { Signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { language, LANGUAGE_NAMES, LANGUAGES } from '../../i18n/language.ts'
import { useActions, type Action } from '../../parts/actions/actions.ts'
import { addressOf } from '../../parts/list/list-query.ts'
import { newItemAddress } from '../../parts/list/new-item.tsx'
import type { ConsolePage } from './pages.ts'
import { chooseLanguage, chooseTheme, theme, THEMES } from '../../parts/preferences.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { isPathOf, pathOf } from './view.ts'
import { session } from './platform.ts'
import { ME, SAVED_VIEWS } from './saved-views.ts'
import { shellWords } from './shell-words.ts'
import { signOut } from './sign-out.ts'

/** What may be in front of the page. */
export type Overlay = 'palette' | 'keys' | 'menu'

/** The actions that every page has. */
export function useShellActions(pages: readonly ConsolePage[], overlay: Signal<Overlay | null>): void {
  const { path, route } = useLocation()
  useActions(() => {
    const words = shellWords()
    const { themes, signOut: signOutTitle } = topBarWords()
    return [
      ...pages.map((page) => ({
        title: words.goTo(page.title()),
        keywords: page.keywords,
        keys: `g ${page.key}`,
        run: () => route(pathOf(page)),
      })),
      ...viewActions(pages, route),
      // The open page has its own action.
      ...newItemActions(
        pages.filter((page) => !isPathOf(page, path)),
        route,
      ),
      { title: words.openPalette, keys: 'Ctrl-k', isKeyOnly: true, run: () => (overlay.value = 'palette') },
      { title: words.showKeys, keys: '?', run: () => (overlay.value = 'keys') },
      ...LANGUAGES.filter((each) => each !== language.value).map((each) => ({
        title: words.switchLanguage(LANGUAGE_NAMES[each]),
        run: () => chooseLanguage(each),
      })),
      ...THEMES.filter((each) => each !== theme.value).map((each) => ({
        title: words.useTheme(themes[each]),
        run: () => chooseTheme(each),
      })),
      { title: signOutTitle, run: () => void signOut() },
    ]
  })
}

function newItemActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  return pages.flatMap((page) => {
    const { newItem } = page
    if (!newItem || !session.may(newItem.operation)) return []
    return [{ title: newItem.title(), run: () => route(newItemAddress(pathOf(page))) }]
  })
}

/** The views of the pages that the user may open. */
function viewActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  const names = new Set(pages.map(({ name }) => name))
  const me = session.bearer.value?.id ?? ''
  return SAVED_VIEWS.filter(({ page }) => names.has(page)).map(({ page, title, query, keywords }) => {
    const filled = Object.entries(query).map(([name, value]) => [name, value === ME ? me : value])
    const address = addressOf(pathOf({ name: page }), Object.fromEntries(filled))
    return { title: title(), keywords, run: () => route(address) }
  })
}
