import { signal } from '@preact/signals'

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** The names of the languages, each in itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' }

/** The tags for `lang` and `Intl` (BCP 47). */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' }

/** English until the page sets another one: the page of the API is not translated. */
export const language = signal<Language>('en')

/**
 * Declares the words of a page in every language; a key that a language does not have is a type error. Returns the words in
 * the present language: components that call it are drawn again when the language changes.
 */
export function defineWords<Words extends object>(table: {
  readonly en: Words
  readonly zh: NoInfer<Words>
}): () => Words {
  return () => table[language.value]
}

/** The first of these languages (BCP 47) that the console has. */
export function preferredLanguage(tags: readonly string[]): Language {
  const wanted = tags.map((tag) => tag.slice(0, 2).toLowerCase())
  return wanted.flatMap((each) => LANGUAGES.filter((known) => known === each))[0] ?? 'en'
}
