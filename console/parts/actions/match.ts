import type { Action } from './actions.ts'

/** The actions whose titles contain every word of the text; first the titles that begin with its first word. */
export function matchActions(actions: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = actions.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
  const begins = ({ title }: Action) => title.toLowerCase().startsWith(words[0] ?? '')
  return [...matching.filter(begins), ...matching.filter((action) => !begins(action))]
}
