import { localNumber, localTime } from '../../../i18n/local.ts'
import { ColumnChart } from '../../../parts/chart/column-chart.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { ORDER_TONES } from '../orders/model.ts'
import { orderWords } from '../orders/words.ts'
import { orderCourses, type Overview, type OverviewSeries, type StatusCourse } from './model.ts'
import { overviewWords } from './words.ts'

export interface OrderCoursesProps {
  readonly orders: NonNullable<Overview['orders']>
  readonly series: OverviewSeries
}

/** The orders by status: how many there are now, and how many entered the status over time. */
export function OrderCourses({ orders, series }: OrderCoursesProps) {
  const { orderTable, status, now, entered, course, from } = overviewWords()
  return (
    <div class="table-frame" role="region" aria-label={orderTable} tabIndex={0}>
      <table class="data-table course-table">
        <caption class="muted">{from(localTime(series.from), localTime(series.to))}</caption>
        <thead>
          <tr>
            <th scope="col">{status}</th>
            <th scope="col" class="numeric">
              {now}
            </th>
            <th scope="col" class="numeric">
              {entered}
            </th>
            <th scope="col">{course}</th>
          </tr>
        </thead>
        <tbody>
          {orderCourses(orders, series).map((each) => (
            <CourseRow key={each.status} course={each} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CourseRow({ course: { status, now, entered, columns } }: { readonly course: StatusCourse }) {
  const label = orderWords().statuses[status]
  const enteredText = entered === null ? '–' : localNumber(entered)
  return (
    <tr>
      <th scope="row">
        <StatusBadge tone={ORDER_TONES[status]} label={label} />
      </th>
      <td class="numeric">{localNumber(now)}</td>
      <td class="numeric">{enteredText}</td>
      <td class="course-cell">
        <ColumnChart
          label={overviewWords().chart(label, enteredText)}
          tone={ORDER_TONES[status]}
          columns={columns}
        />
      </td>
    </tr>
  )
}
