/** The requested part of a list. Lists are ordered newest first, by a number that never changes for a row. */
export interface PageRequest {
  /** The maximum number of items. */
  readonly limit: number
  /** Only rows with a smaller number are listed; `Number.MAX_SAFE_INTEGER` for the first page. */
  readonly before: number
  /** Only rows created at this time or later, in epoch milliseconds. */
  readonly createdFrom?: number
  /** Only rows created before this time, in epoch milliseconds. */
  readonly createdTo?: number
}

/** A part of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** `before` of the next page, or null on the last page. */
  readonly next: number | null
}

/** A page of rows that were read with one more than `limit`: the extra row only shows that there is a next page. */
export function pageOf<R extends { seq: number }>(rows: readonly R[], limit: number): Page<R> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? last.seq : null }
}
