/** One column of a chart: the sum of its values, or null if none of them is known. */
export type ColumnValue = number | null

/** Adds neighbouring values until at most `most` columns are left. */
export function columnsOf(values: readonly ColumnValue[], most: number): readonly ColumnValue[] {
  const perColumn = Math.max(1, Math.ceil(values.length / most))
  const starts = Array.from({ length: Math.ceil(values.length / perColumn) }, (_, index) => index * perColumn)
  return starts.map((start) => sumOf(values.slice(start, start + perColumn)))
}

/** The sum of the known values; null if there is none. */
export function sumOf(values: readonly ColumnValue[]): ColumnValue {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
