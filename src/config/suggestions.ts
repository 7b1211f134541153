import { closestMatch } from 'leven'

// A key is shorter; the time of the comparison grows with the product of both lengths.
const LONGEST_WORD = 64

/** `, did you mean …?` when candidates are close to the word, else nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  if (word.length > LONGEST_WORD) return ''
  const misplaced = candidates.filter((candidate) => candidate.endsWith(`.${word}`))
  const maxDistance = Math.min(3, Math.floor(word.length / 3))
  const close = misplaced.length > 0 ? misplaced : (closestMatch(word, candidates, { maxDistance }) ?? [])
  return close.length === 0 ? '' : `, did you mean ${[close].flat().join(' or ')}?`
}
