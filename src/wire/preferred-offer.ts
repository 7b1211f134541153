/**
 * The offered value that a client prefers by its `Accept` or `Accept-Encoding` (RFC 9110, section 12.5); of equal ones the
 * first. Undefined if the client names none of them, or sends no such header.
 */
export function preferredOffer<T extends string>(
  header: string | undefined,
  offers: readonly T[],
): T | undefined {
  if (header === undefined) return undefined
  const weights = parseWeights(header)
  let best: { offer: T; weight: number } | undefined
  for (const offer of offers) {
    const weight = weightOf(offer, weights)
    if (weight > (best?.weight ?? 0)) best = { offer, weight }
  }
  return best?.offer
}

/** The most specific range decides: `text/csv` before `text/*`, and both before all others. */
function weightOf(offer: string, weights: ReadonlyMap<string, number>): number {
  const ranges = [offer, `${offer.split('/')[0]}/*`, offer.includes('/') ? '*/*' : '*']
  const range = ranges.find((candidate) => weights.has(candidate))
  return range === undefined ? 0 : (weights.get(range) ?? 0)
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const weight = parameters
      .map((parameter) => WEIGHT.exec(parameter)?.[1])
      .find((text) => text !== undefined)
    weights.set(range.toLowerCase(), weight === undefined ? 1 : Number(weight))
  }
  return weights
}
