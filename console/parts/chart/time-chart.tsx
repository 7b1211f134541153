import { localNumber, localTick } from '../../i18n/local.ts'
import { lonePlaces, scaleOf, type ColumnValue } from './columns-of.ts'

export interface ChartSeries {
  readonly name: string
  /** One for each time; null is a gap. */
  readonly values: readonly ColumnValue[]
}

export interface TimeChartProps {
  readonly label: string
  readonly series: readonly ChartSeries[]
  /** In epoch milliseconds, ascending. */
  readonly times: readonly number[]
  /** The time that the reader looks at; null for none. */
  readonly current: number | null
  readonly onCurrent: (index: number | null) => void
}

const HEIGHT = 100
const X_TICKS = 5

/**
 * Courses over time with axes. The pointer or the arrow keys choose a time, whose values the page shows beside the chart; a
 * screen reader says them.
 */
export function TimeChart({ label, series, times, current, onCurrent }: TimeChartProps) {
  const last = Math.max(1, times.length - 1)
  const { most, ticks } = scaleOf(Math.max(0, ...series.flatMap(({ values }) => values.map(Number))))
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const tick = (index: number) => localTick(times[index] ?? 0, spanMs)
  const place = Math.min(current ?? last, last)
  const valueText = series.map(({ name, values }) => `${name} ${valueOf(values[place])}`).join(', ')
  const choose = (index: number) => onCurrent(Math.max(0, Math.min(last, index)))
  return (
    <div class="time-chart">
      <ol class="time-chart-y" aria-hidden="true">
        {ticks.toReversed().map((value) => (
          <li key={value}>{localNumber(value)}</li>
        ))}
      </ol>
      <div
        class="time-chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={place}
        aria-valuetext={`${tick(place)}: ${valueText}`}
        onKeyDown={(event) => {
          const step = STEPS[event.key]
          if (step === undefined) return
          event.preventDefault()
          choose(place + step)
        }}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          choose(Math.round(((clientX - left) / width) * last))
        }}
        onPointerLeave={() => onCurrent(null)}
        onBlur={() => onCurrent(null)}
      >
        <svg viewBox={`0 0 ${last} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {ticks.map((value) => (
            <path key={value} class="time-chart-line" d={`M0 ${heightOf(value, most)}H${last}`} />
          ))}
          {series.map(({ name, values }, index) => (
            <path key={name} class={`time-chart-course course-${index}`} d={pathOf(values, most)} />
          ))}
          {series.map(({ name, values }, index) => (
            <path key={name} class={`time-chart-point course-${index}`} d={pointsOf(values, most)} />
          ))}
          {current !== null && <path class="time-chart-current" d={`M${place} 0V${HEIGHT}`} />}
        </svg>
      </div>
      <ol class="time-chart-x" aria-hidden="true">
        {Array.from({ length: X_TICKS }, (_, place) => Math.round((place / (X_TICKS - 1)) * last)).map(
          (index) => (
            <li key={index}>{tick(index)}</li>
          ),
        )}
      </ol>
    </div>
  )
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: 12,
  PageDown: -12,
  Home: -Infinity,
  End: Infinity,
}

function valueOf(value: ColumnValue | undefined): string {
  return value === null || value === undefined ? '–' : localNumber(value)
}

function heightOf(value: number, most: number): number {
  return HEIGHT - (value / most) * HEIGHT
}

/** A line through the known values, interrupted where one is not known. */
function pathOf(values: readonly ColumnValue[], most: number): string {
  return values
    .map((value, index) => {
      if (value === null) return ''
      const isFirst = (values[index - 1] ?? null) === null
      return `${isFirst ? 'M' : 'L'}${index} ${heightOf(value, most)}`
    })
    .join('')
}

/** A dot for each value without a neighbour: a line as long as it is wide. */
function pointsOf(values: readonly ColumnValue[], most: number): string {
  return lonePlaces(values)
    .map((index) => `M${index} ${heightOf(values[index] ?? 0, most)}h0.001`)
    .join('')
}

/** A sample of the line with which a chart draws the series at this index. */
export function CourseMark({ index }: { readonly index: number }) {
  return (
    <svg class="course-mark" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
      <path class={`time-chart-course course-${index}`} d="M1 4H23" />
    </svg>
  )
}
