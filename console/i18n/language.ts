import { signal } from '@preact/signals'

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** The names of the languages, each in itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' }

/** The tags for `lang` and `Intl` (BCP 47). */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' }

/** English until the page sets another one: the page of the API is not translated. */
export const language = signal<Language>('en')

/** A word in every language: a text, or a function that puts values into one. */
export type Translations<Word> = readonly [en: Word, zh: NoInfer<Word>]

/** A word with its translations, or a group of words; neither a text, a list nor a function has the form of a group. */
type WordTable<Words> =
  | Translations<Words>
  | ({ readonly [Name in keyof Words]: WordTable<Words[Name]> } & { readonly length?: never })

/** For a text that needs no translation. */
export function sameInBoth<Word>(word: Word): Translations<Word> {
  return [word, word]
}

/**
 * Declares the words of a page; a word without a translation is a type error. Returns the words in the present language:
 * components that call it are drawn again when the language changes.
 */
export function defineWords<Words>(table: {
  readonly [Name in keyof Words]: WordTable<Words[Name]>
}): () => Words {
  const words = { en: wordsAt(table, 0) as Words, zh: wordsAt(table, 1) as Words }
  return () => words[language.value]
}

/** The words of the language at this place of their {@link Translations}. */
function wordsAt(table: object, place: number): object {
  const words = Object.entries(table).map(([name, entry]: [string, object]) => [
    name,
    Array.isArray(entry) ? (entry[place] as unknown) : wordsAt(entry, place),
  ])
  return Object.fromEntries(words) as object
}

/** The first of these languages (BCP 47) that the console has. */
export function preferredLanguage(tags: readonly string[]): Language {
  const wanted = tags.map((tag) => tag.slice(0, 2).toLowerCase())
  return wanted.flatMap((tag) => LANGUAGES.filter((known) => known === tag))[0] ?? 'en'
}
