// Longer words are no typing errors of a key, and the comparison grows with the product of both lengths.
const LONGEST_WORD = 64

/** `, did you mean …?` when some candidate is close to the word, else nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const close = closest(word, candidates)
  return close.length === 0 ? '' : `, did you mean ${close.join(' or ')}?`
}

function closest(word: string, candidates: readonly string[]): readonly string[] {
  if (word.length > LONGEST_WORD) return []
  const misplaced = candidates.filter((candidate) => candidate.endsWith(`.${word}`))
  if (misplaced.length > 0) return misplaced
  const distances = candidates.map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
  const nearest = Math.min(...distances.map(({ distance }) => distance))
  if (nearest > allowedDistance(word)) return []
  return distances.filter(({ distance }) => distance === nearest).map(({ candidate }) => candidate)
}

function allowedDistance(word: string): number {
  return Math.min(3, Math.floor(word.length / 3))
}

/** Levenshtein: how many single characters must be added, removed or replaced. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) previous = nextRow(previous, row, from.charAt(row - 1), to)
  return previous[to.length] ?? 0
}

function nextRow(previous: readonly number[], row: number, char: string, to: string): number[] {
  const current = [row]
  for (let column = 1; column <= to.length; column++) {
    const replaced = (previous[column - 1] ?? 0) + (to.charAt(column - 1) === char ? 0 : 1)
    const added = (current[column - 1] ?? 0) + 1
    const removed = (previous[column] ?? 0) + 1
    current.push(Math.min(replaced, added, removed))
  }
  return current
}
