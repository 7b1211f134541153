/** Which part of a list is asked for. Lists run newest first, by a number that a row keeps for ever. */
export interface PageRequest {
  /** At most so many items. */
  readonly limit: number
  /** Only rows with a smaller number; `Number.MAX_SAFE_INTEGER` for the first page. */
  readonly before: number
}

export interface Page<T> {
  readonly items: readonly T[]
  /** The next page's `before`, or null when this is the last one. */
  readonly next: number | null
}

/**
 * Cuts a page out of rows that were read with one more than `limit`: the row too many only tells that there is a
 * next page.
 */
export function pageOf<R extends { seq: number }, T>(
  rows: readonly R[],
  limit: number,
  toItem: (row: R) => T,
): Page<T> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  return { items: kept.map(toItem), next: rows.length > limit && last ? last.seq : null }
}
