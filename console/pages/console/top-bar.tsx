import type { Signal } from '@preact/signals'
import type { LiveState } from '../../api/live.ts'
import { language, LANGUAGE_NAMES, LANGUAGES } from '../../i18n/language.ts'
import { Brand } from '../../parts/brand.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { IconName } from '../../parts/icons.ts'
import { Liveness, type LivenessTone } from '../../parts/liveness.tsx'
import { live, session } from './platform.ts'
import { PreferenceSelect } from './preference-select.tsx'
import { chooseLanguage, chooseTheme, theme, THEMES, type Theme } from './preferences.ts'
import { shellWords } from './shell-words.ts'
import type { Overlay } from './use-shell-actions.ts'

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

/** Whether the page is up to date, the search, the preferences and the way out. */
export function TopBar({ overlay }: { readonly overlay: Signal<Overlay | null> }) {
  const words = shellWords()
  const name = session.bearer.value?.name
  return (
    <header class="top-bar">
      <button
        class="button button-icon menu-button"
        type="button"
        aria-label={words.menu}
        onClick={() => (overlay.value = 'menu')}
      >
        <Icon name="menu" />
      </button>
      <Brand title={words.console} isHeading={false} />
      <Connection />
      <button class="search-button" type="button" onClick={() => (overlay.value = 'palette')}>
        <Icon name="search" />
        <span class="search-label">{words.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="top-bar-end">
        <PreferenceSelect
          icon="language"
          label={words.language}
          value={language.value}
          choices={LANGUAGES.map((each) => [each, LANGUAGE_NAMES[each]])}
          onChange={chooseLanguage}
        />
        <PreferenceSelect
          icon={THEME_ICONS[theme.value]}
          label={words.theme}
          value={theme.value}
          choices={THEMES.map((each) => [each, words.themes[each]])}
          onChange={chooseTheme}
        />
        {name && (
          <span class="user-name" title={session.bearer.value?.roles.join(', ')}>
            <span class="visually-hidden">{words.signedInAs} </span>
            <bdi>{name}</bdi>
          </span>
        )}
        <button
          class="button button-icon"
          type="button"
          aria-label={words.signOut}
          title={words.signOut}
          onClick={() => session.signOut()}
        >
          <Icon name="signOut" />
        </button>
      </div>
    </header>
  )
}

const TONES: Readonly<Record<LiveState, LivenessTone>> = {
  connecting: 'waiting',
  live: 'live',
  broken: 'stale',
  off: 'paused',
}

function Connection() {
  const words = shellWords()
  const state = live.state.value
  return (
    <Liveness
      tone={TONES[state]}
      text={words.live[state]}
      retry={state === 'broken' && { label: words.reconnect, run: () => live.retryNow() }}
    />
  )
}
