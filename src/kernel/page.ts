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
 * Cuts a page out of rows that were read with one more than `limit`: the extra row only shows that there is a next
 * page.
 */
export function pageOf<R extends { seq: number }>(rows: readonly R[], limit: number): Page<R> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? last.seq : null }
}

/** The page with each item translated. */
export function mapPage<T, U>({ items, next }: Page<T>, toItem: (item: T) => U): Page<U> {
  return { items: items.map(toItem), next }
}
