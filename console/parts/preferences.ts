import { effect, signal } from '@preact/signals'
import { language, LANGUAGES, LOCALES, preferredLanguage } from '../i18n/language.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Light or dark; `system` is what the browser prefers. */
export const theme = signal<Theme>('system')

const KEYS = { language: 'platform.language', theme: 'platform.theme' } as const

/** Reads what the user has chosen in an earlier visit, applies it to the document, and stores every change. */
export function applyPreferences(): void {
  const { documentElement } = document
  language.value = oneOf(LANGUAGES, readLocal(KEYS.language)) ?? preferredLanguage(navigator.languages)
  theme.value = oneOf(THEMES, readLocal(KEYS.theme)) ?? 'system'
  effect(() => {
    documentElement.lang = LOCALES[language.value]
  })
  effect(() => {
    documentElement.dataset['theme'] = theme.value
  })
}

export function chooseLanguage(wanted: (typeof LANGUAGES)[number]): void {
  language.value = wanted
  writeLocal(KEYS.language, wanted)
}

export function chooseTheme(wanted: Theme): void {
  theme.value = wanted
  writeLocal(KEYS.theme, wanted)
}

function oneOf<T extends string>(values: readonly T[], text: string | null): T | undefined {
  return values.find((value) => value === text)
}

/** A browser may refuse to store anything for the page: then the choice lasts until the page is closed. */
export function readLocal(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function writeLocal(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // See readLocal.
  }
}
