import type { Tone } from '../status-badge.tsx'
import type { ColumnValue } from './columns-of.ts'

const HEIGHT = 36
const GAP = 0.25
// A column of 1 beside one of 10,000 is still seen.
const LEAST_HEIGHT = 1.5

export interface ColumnChartProps {
  /** What a screen reader says instead of the picture. */
  readonly label: string
  readonly tone: Tone
  readonly columns: readonly ColumnValue[]
}

/** A small chart of columns over time; a column that is not known is a gap. */
export function ColumnChart({ label, tone, columns }: ColumnChartProps) {
  const most = Math.max(1, ...columns.map((column) => column ?? 0))
  return (
    <svg
      class={`column-chart column-chart-${tone}`}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, columns.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <path class="column-chart-base" d={`M0 ${HEIGHT}H${columns.length}`} />
      {columns.map((column, index) => {
        if (!column) return null
        const height = Math.max(LEAST_HEIGHT, (column / most) * HEIGHT)
        return <rect key={index} x={index} y={HEIGHT - height} width={1 - GAP} height={height} />
      })}
    </svg>
  )
}
