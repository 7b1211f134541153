import type { ComponentChildren } from 'preact'
import type { Bearer } from '../api/token.ts'
import { language, LANGUAGE_NAMES, LANGUAGES } from '../i18n/language.ts'
import { Brand, type BrandProps } from './brand.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { Liveness, type LivenessProps } from './liveness.tsx'
import { chooseLanguage, chooseTheme, theme, THEMES, type Theme } from './preferences.ts'
import { topBarWords } from './top-bar-words.ts'

export interface TopBarProps extends BrandProps {
  readonly liveness: LivenessProps
  readonly bearer: Bearer | null
  readonly onSignOut: () => void
  /** Shown before the name of the page. */
  readonly start?: ComponentChildren
  /** Shown behind the liveness. */
  readonly children?: ComponentChildren
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

/** Whether the page is up to date, the preferences of the user and the way out. */
export function TopBar({ liveness, bearer, onSignOut, start, children, ...brand }: TopBarProps) {
  const words = topBarWords()
  return (
    <header class="top-bar">
      {start}
      <Brand {...brand} />
      <Liveness {...liveness} />
      {children}
      <div class="top-bar-end">
        <PreferenceSelect
          icon="language"
          label={words.language}
          value={language.value}
          choices={LANGUAGES.map((known) => [known, LANGUAGE_NAMES[known]])}
          onChange={chooseLanguage}
        />
        <PreferenceSelect
          icon={THEME_ICONS[theme.value]}
          label={words.theme}
          value={theme.value}
          choices={THEMES.map((known) => [known, words.themes[known]])}
          onChange={chooseTheme}
        />
        {bearer?.name && (
          <span class="bearer" title={bearer.roles.join(', ')}>
            <span class="visually-hidden">{words.signedInAs} </span>
            <bdi>{bearer.name}</bdi>
          </span>
        )}
        <Button
          kind="icon"
          icon="signOut"
          aria-label={words.signOut}
          title={words.signOut}
          onClick={onSignOut}
        />
      </div>
    </header>
  )
}

interface PreferenceSelectProps<Value extends string> {
  readonly icon: IconName
  readonly label: string
  readonly value: Value
  readonly choices: readonly (readonly [value: Value, name: string])[]
  readonly onChange: (value: Value) => void
}

/** An icon that opens a list of choices. */
function PreferenceSelect<Value extends string>(props: PreferenceSelectProps<Value>) {
  const { icon, label, value, choices, onChange } = props
  return (
    <label class="preference" title={label}>
      <Icon name={icon} />
      <select
        aria-label={label}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices.find(([key]) => key === currentTarget.value)
          if (chosen) onChange(chosen[0])
        }}
      >
        {choices.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
