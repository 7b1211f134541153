import type { Signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { language, LANGUAGE_NAMES, LANGUAGES } from '../../i18n/language.ts'
import { useActions, type Action } from '../../parts/actions/actions.ts'
import { newItemAddress, openNewItem } from '../../parts/list/new-item.tsx'
import type { ConsolePage } from './pages.ts'
import { chooseLanguage, chooseTheme, theme, THEMES, type Theme } from '../../parts/preferences.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { isPathOf, pathOf } from './view.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { signOut } from './sign-out.ts'
import { newItemTitle, pageTitle } from './page-words.ts'

/** What may be in front of the page. */
export type Overlay = 'palette' | 'keys' | 'menu' | 'tour'

const LANGUAGE_KEYWORDS = 'language translate english chinese 语言 英文 中文'
const TOUR_KEYWORDS = 'help introduction guide 帮助 导览 引导'
const SIGN_OUT_KEYWORDS = 'logout log out logoff quit exit leave 退出 登出 注销'
const THEME_KEYWORDS: Readonly<Record<Theme, string>> = {
  system: 'theme appearance automatic 主题 外观 自动',
  light: 'theme appearance bright day white mode 主题 外观 浅色 明亮 白天',
  dark: 'theme appearance night black mode 主题 外观 深色 夜间 黑暗',
}

/** The actions that every page has. */
export function useShellActions(pages: readonly ConsolePage[], overlay: Signal<Overlay | null>): void {
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
      ...LANGUAGES.filter((each) => each !== language.value).map((each) => ({
        title: words.switchLanguage(LANGUAGE_NAMES[each]),
        keywords: LANGUAGE_KEYWORDS,
        run: () => chooseLanguage(each),
      })),
      ...THEMES.filter((each) => each !== theme.value).map((each) => ({
        title: words.useTheme(themes[each]),
        keywords: THEME_KEYWORDS[each],
        run: () => chooseTheme(each),
      })),
      { title: signOutTitle, keywords: SIGN_OUT_KEYWORDS, run: () => void signOut() },
    ]
  })
}

/** What is new on the open page stands beside its list. */
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
