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

/** The indexes of the known values without a known neighbour, which no line can show. */
export function lonePlaces(values: readonly ColumnValue[]): readonly number[] {
  const isKnown = (place: number) => (values[place] ?? null) !== null
  return [...values.keys()].filter((place) => isKnown(place) && !isKnown(place - 1) && !isKnown(place + 1))
}

/** The axis of a chart: its end, and the values that are named, from 0 on. */
export interface Scale {
  readonly most: number
  readonly ticks: readonly number[]
}

const MOST_STEPS = 4
const STEP_DIGITS = [1, 2, 5, 10] as const

/** At most four steps of 1, 2 or 5 times a power of ten, up to the value or beyond it; counts have no fractions. */
export function scaleOf(most: number): Scale {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, most) / MOST_STEPS)))
  const step =
    STEP_DIGITS.map((digit) => digit * power).find((size) => size * MOST_STEPS >= most) ?? 10 * power
  const steps = Math.max(1, Math.ceil(most / step))
  return { most: steps * step, ticks: Array.from({ length: steps + 1 }, (_, index) => index * step) }
}
