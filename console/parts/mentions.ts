// docs/specification.md, Tickets: what a name of a user consists of.
const NAME = 'A-Za-z0-9._@+-'
const TYPED = new RegExp(`(?<![${NAME}])@([${NAME}]*)$`)
const MOST_NAMES = 8

/** The name that is being typed at a place of a text, and where it begins behind the @. */
export function mentionAt(text: string, place: number): { typed: string; from: number } | null {
  const [, typed] = TYPED.exec(text.slice(0, place)) ?? []
  return typed === undefined ? null : { typed, from: place - typed.length }
}

/** The names that begin with the typed text, then those that contain it. A complete name needs no completion. */
export function namesFor(names: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase()
  const isBeginning = (name: string) => name.toLowerCase().startsWith(wanted)
  const found = names.filter((name) => name.toLowerCase().includes(wanted))
  if (found.some((name) => name.toLowerCase() === wanted)) return []
  return [...found.filter(isBeginning), ...found.filter((name) => !isBeginning(name))].slice(0, MOST_NAMES)
}

/** Whether a text mentions this name, which may be followed by what ends a sentence. */
export function mentions(text: string, name: string): boolean {
  const known = name.replaceAll(/[.+]/g, '\\$&')
  return new RegExp(`(?<![${NAME}])@${known}(?![${NAME}]*[A-Za-z0-9_@+])`, 'i').test(text)
}
