import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import type { AnswerOf } from '../../../api/operations.ts'
import { isolated } from '../../../i18n/isolated.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { ColumnChart } from '../../../parts/chart/column-chart.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { Stats } from '../../../parts/stats.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { useBusState } from '../bus-health.ts'
import { BusNotice } from '../bus-notice.tsx'
import { ORDER_TONES } from '../orders/model.ts'
import { orderWords } from '../orders/words.ts'
import { session, call, live } from '../platform.ts'
import { resourceOf } from '../sources.ts'
import { settingsResource } from '../settings/model.ts'
import { pathOf } from '../view.ts'
import { alertStates, NO_STATES } from './alert-states.ts'
import {
  overviewOf,
  PERIODS,
  periodOf,
  mostUrgent,
  orderCourses,
  type Overview,
  type Period,
  type OverviewSeries,
  type PartName,
  type StatusCourse,
} from './model.ts'
import { partStats, partAddress, partTone } from './part-stats.tsx'
import { overviewWords } from './words.ts'

const PATH = pathOf({ name: 'overview' })

/** The state of the whole platform, and the course of the orders. */
export function OverviewPage() {
  const words = overviewWords()
  const period = periodOf(useLocation().query['hours'])
  const overview = useResource(overviewResource, '')
  const bus = useBusState()
  const states = useResource(alertStates, '').value.value ?? NO_STATES
  return (
    <>
      <PageHead title={words.title} />
      <ResourceView model={overview}>
        {(value) => <Parts overview={overviewOf(value, bus, states)} period={period} />}
      </ResourceView>
    </>
  )
}

interface PartsProps {
  readonly overview: Overview
  readonly period: Period
}

function Parts({ overview, period }: PartsProps) {
  return (
    <>
      <FirstStep overview={overview} />
      {session.may('listMessages') && <BusNotice />}
      {session.may('getConfig') && <RobotNotice />}
      {session.may('getDoctorReport') && <DoctorNotice />}
      <Stats label={overviewWords().health} stats={partStats(overview)} />
      {overview.orders && <OrderSection orders={overview.orders} period={period} />}
    </>
  )
}

interface OrderSectionProps {
  readonly orders: NonNullable<Overview['orders']>
  readonly period: Period
}

function OrderSection({ orders, period }: OrderSectionProps) {
  const { orderTitle, period: label, periods } = overviewWords()
  const series = useResource(overviewSeries, period)
  return (
    <section class="page-section" aria-labelledby="orders-title">
      <header class="page-head">
        <h2 class="section-title" id="orders-title">
          {orderTitle}
        </h2>
        <LinkChoice
          label={label}
          choices={PERIODS.map((each) => ({
            title: periods[each],
            href: `${PATH}?hours=${each}`,
            isCurrent: each === period,
          }))}
        />
      </header>
      <ResourceView model={series}>{(value) => <OrderCourses orders={orders} series={value} />}</ResourceView>
    </section>
  )
}

const PAUSE_MS = 2_000
// The numbers come from several domains: any event may change them.
const ANY_EVENT = { live, prefix: '', isAbout: () => true, pauseMs: PAUSE_MS }

/** The state of the platform now. */
const overviewResource: ResourceSource<AnswerOf<'getOverview'>> = {
  ...ANY_EVENT,
  read: (_, signal) => call('getOverview', {}, signal),
}

/** Its course over the last hours; the id is their number. */
const overviewSeries: ResourceSource<OverviewSeries> = {
  ...ANY_EVENT,
  read: (hours, signal) => call('getOverviewSeries', { query: { hours: Number(hours) } }, signal),
}

const UNSET = '(unset)'

/** That nobody is notified of alerts, as long as no chat robot is set up; for users who may read the settings. */
function RobotNotice() {
  const { noRobot, toSettings } = overviewWords()
  const settings = useResource(settingsResource, '').value.value
  const robot = settings?.items.find(({ key }) => key === 'alerts.robot.url')
  if (robot?.value !== UNSET) return null
  return (
    <p class="page-notice">
      <Icon name="alerts" />
      <span>
        {noRobot} <a href={pathOf({ name: 'settings' })}>{toSettings}</a>
      </span>
    </p>
  )
}

/** What to do first, with a link to it; nothing while all is well. */
function FirstStep({ overview }: { readonly overview: Overview }) {
  const name = mostUrgent((each) => partTone(each, overview))
  if (name === undefined) return null
  const words = overviewWords()
  return (
    <p class="page-notice">
      <Icon name="warning" />
      <span>
        {words.first} {linkTo(name, overview)}
      </span>
    </p>
  )
}

function linkTo<Name extends PartName>(name: Name, overview: Overview): ComponentChildren {
  const { steps, stepOfAlert } = overviewWords()
  const part = overview[name]
  if (part === null) return null
  const alert = name === 'alerts' ? overview.alerts?.first : undefined
  if (!alert) return <a href={partAddress(name, part)}>{steps[name]}</a>
  return (
    <a href={`${pathOf({ name: 'alerts' })}/${encodeURIComponent(alert.id)}`}>
      {stepOfAlert(isolated(alert.title))}
    </a>
  )
}

const SHOWN = 3

const doctorResource = resourceOf('getDoctorReport', '', () => ({}), {
  // No event tells of a disk or a file.
  isAbout: () => false,
})

/** The gravest findings of the doctor, errors first; nothing while there are none. */
function DoctorNotice() {
  const { doctorTitle, doctorMore, doctorResults } = overviewWords()
  const findings = useResource(doctorResource, '').value.value?.findings ?? []
  const faults = (['error', 'warning'] as const).flatMap((result) =>
    findings.filter((each) => each.result === result).map((each) => ({ ...each, result })),
  )
  if (faults.length === 0) return null
  return (
    <section class="page-section" aria-labelledby="doctor-title">
      <h2 class="section-title" id="doctor-title">
        {doctorTitle(faults.length)}
      </h2>
      <ul class="finding-list">
        {faults.slice(0, SHOWN).map(({ check, subject, result, detail, remedy }) => (
          <li key={`${check} ${subject} ${detail}`}>
            <StatusBadge tone={result === 'error' ? 'danger' : 'warning'} label={doctorResults[result]} />
            <span>
              <b>{subject}</b> {detail}
              {remedy && <span class="finding-remedy">→ {remedy}</span>}
            </span>
          </li>
        ))}
      </ul>
      {faults.length > SHOWN && <p>{doctorMore(faults.length - SHOWN)}</p>}
    </section>
  )
}

interface OrderCoursesProps {
  readonly orders: NonNullable<Overview['orders']>
  readonly series: OverviewSeries
}

/** The orders by status: how many there are now, and how many entered the status over time. */
function OrderCourses({ orders, series }: OrderCoursesProps) {
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
