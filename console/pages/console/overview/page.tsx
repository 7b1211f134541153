import { useLocation } from 'preact-iso/router'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Stats } from '../../../parts/stats.tsx'
import { useBusState } from '../bus-health.ts'
import { BusNotice } from '../bus-notice.tsx'
import { session } from '../platform.ts'
import { pathOf } from '../view.ts'
import { alertStates, NO_STATES } from './alert-states.ts'
import { DoctorNotice } from './doctor-notice.tsx'
import { FirstStep } from './first-step.tsx'
import { overviewOf, PERIODS, periodOf, type Overview, type Period } from './model.ts'
import { OrderCourses } from './order-courses.tsx'
import { partStats } from './part-stats.tsx'
import { RobotNotice } from './robot-notice.tsx'
import { overviewResource, overviewSeries } from './source.ts'
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
