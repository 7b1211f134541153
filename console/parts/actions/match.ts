import type { Action } from './actions.ts'

/** The actions of these titles first, in their order. */
export function recentFirst(actions: readonly Action[], titles: readonly string[]): readonly Action[] {
  const placeOf = ({ title }: Action) => (titles.includes(title) ? titles.indexOf(title) : titles.length)
  return actions.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/**
 * The actions whose titles or keywords contain every word of the text: first the titles that begin with its first word, then
 * the other titles, and last what only the keywords match.
 */
export function matchActions(actions: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return [0, 1, 2].flatMap((rank) => actions.filter((action) => rankOf(action, words) === rank))
}

/** Undefined for an action that does not match. */
function rankOf({ title, keywords = '' }: Action, words: readonly string[]): number | undefined {
  const lowerTitle = title.toLowerCase()
  const all = `${lowerTitle} ${keywords.toLowerCase()}`
  if (!words.every((word) => all.includes(word))) return undefined
  if (lowerTitle.startsWith(words[0] ?? '')) return 0
  return words.every((word) => lowerTitle.includes(word)) ? 1 : 2
}
