/** The middle of some values and the range that holds the middle half of them. */
export interface Spread {
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
}

/** The value below which that share of the values lies, interpolated between neighbours; `sorted` must rise. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const position = share * (sorted.length - 1)
  const below = sorted[Math.floor(position)] ?? NaN
  const above = sorted[Math.ceil(position)] ?? NaN
  return below + (above - below) * (position - Math.floor(position))
}

/**
 * How far the means of two samples differ, in standard errors (Welch's t); without the slowest twentieth of both, which other
 * work of the machine has held up.
 */
export function welchT(one: readonly number[], other: readonly number[]): number {
  const limit = quantile(
    [...one, ...other].sort((a, b) => a - b),
    0.95,
  )
  const [a, b] = [one, other].map((values) => moments(values.filter((value) => value <= limit)))
  if (!a || !b) return NaN
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count)
}

function moments(values: readonly number[]) {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1)
  return { count, mean, variance }
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75),
  }
}
