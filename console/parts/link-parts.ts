export interface TextPart {
  readonly text: string
  /** Null for text that is no address. */
  readonly href: string | null
}

// Up to a space, a quotation mark or a bracket that encloses addresses in texts, a control character or one that turns the
// direction of writing, or the punctuation of Chinese.
const ADDRESS = /https?:\/\/[^\s"'<>`\p{C}，。；：！？、（）《》“”‘’「」【】]+/giu
// Signs that end a sentence rather than an address.
const ENDS = new Set('.,;:!?*_~')
const BRACKETS = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
] as const

/** Splits a text at its http and https addresses; together the parts are the text. */
export function linkParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let place = 0
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const address = addressIn(match)
    const href = hrefOf(address)
    if (href === null) continue
    parts.push({ text: text.slice(place, index), href: null }, { text: address, href })
    place = index + address.length
  }
  return [...parts, { text: text.slice(place), href: null }].filter((part) => part.text !== '')
}

/**
 * Without what belongs to the sentence: `(see https://a.example/b).` → `https://a.example/b`. In linear time, because anybody
 * may write the text.
 */
function addressIn(match: string): string {
  const surplus = new Map<string, number>(
    BRACKETS.map(([open, close]) => [close, countOf(match, close) - countOf(match, open)]),
  )
  let end = match.length
  for (; end > 0; end--) {
    const sign = match.charAt(end - 1)
    const closing = surplus.get(sign) ?? 0
    if (closing > 0) surplus.set(sign, closing - 1)
    else if (!ENDS.has(sign)) break
  }
  return match.slice(0, end)
}

function countOf(text: string, sign: string): number {
  return text.split(sign).length - 1
}

/** Null for an address that names a user: what looks like its host may not be it. */
function hrefOf(address: string): string | null {
  const url = URL.parse(address)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url && isWeb && url.username === '' && url.password === '' ? url.href : null
}
