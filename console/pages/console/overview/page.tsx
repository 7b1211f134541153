import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import type { AnswerOf } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { language } from '../../../i18n/language.ts'
import { localNumber, localTick, localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { CourseMark, TimeChart } from '../../../parts/chart/time-chart.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useAnswered } from '../../../parts/resource/use-answered.ts'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { Loading } from '../../../parts/states.tsx'
import { Stats } from '../../../parts/stats.tsx'
import { StatusBadge, type StatusBadgeProps } from '../../../parts/status-badge.tsx'
import { SEVERITY_TONES, type Alert } from '../alerts/model.ts'
import { FIRING_SEVERITIES } from '../alerts/severities.ts'
import { alertWords } from '../alerts/words.ts'
import { busStateOf, useBusHealth } from '../bus-health.ts'
import { BusNotice } from '../bus-notice.tsx'
import { loadUntilThere } from '../lazy-page.ts'
import { decidableRequests } from '../executions/requests.ts'
import { orderWords } from '../orders/words.ts'
import { session, call, live } from '../platform.ts'
import { activeSilences } from '../silences/active-silences.ts'
import { pathOf } from '../view.ts'
import { alertStates, NO_STATES } from './alert-states.ts'
import {
  overviewOf,
  PERIODS,
  periodOf,
  columnTimes,
  orderCourses,
  urgentParts,
  type Overview,
  type Period,
  type OverviewSeries,
  type PartName,
  type StatusCourse,
} from './model.ts'
import { doctorChecks } from './doctor-checks.ts'
import { doctorSentences, loadChineseFindings } from './doctor-words.ts'
import { partStats, partAddress, partTone } from './part-stats.tsx'
import { overviewWords } from './words.ts'

const PATH = pathOf('overview')

/** The state of the whole platform, and the course of the orders. */
export function OverviewPage() {
  const words = overviewWords()
  const period = periodOf(useLocation().query['hours'])
  const readings = useReadings(period)
  useSignalEffect(() => {
    if (language.value === 'zh') void loadUntilThere(loadChineseFindings)
  })
  const isAnswered = useAnswered(Object.values(readings))
  return (
    <>
      <PageHead title={words.title} />
      <ResourceView model={readings.overview}>
        {(value) => (isAnswered ? <Parts answer={value} readings={readings} period={period} /> : <Loading />)}
      </ResourceView>
    </>
  )
}

type Readings = ReturnType<typeof useReadings>

/** All that the page shows, read at once. */
function useReadings(period: Period) {
  return {
    overview: useResource(overviewResource, ''),
    bus: useBusHealth(),
    states: useResource(alertStates, ''),
    silences: useResource(activeSilences, ''),
    series: useResource(overviewSeries, period),
    requests: useResource(decidableRequests, ''),
    report: useResource(doctorReport, ''),
    routes: useResource(alertRoutes, ''),
  }
}

interface PartsProps {
  readonly answer: AnswerOf<'getOverview'>
  readonly readings: Readings
  readonly period: Period
}

function Parts({ answer, readings, period }: PartsProps) {
  const { bus, states, silences, series, requests, report, routes } = readings
  const busState = busStateOf(bus.value.value)
  const overview = overviewOf(
    answer,
    busState,
    states.value.value ?? NO_STATES,
    silences.value.value?.items ?? [],
  )
  // The doctor looked when the page was opened; whether the bus accepts messages is asked again and again.
  const findings = (report.value.value?.findings ?? []).filter(
    ({ check }) => check !== 'bus' || busState !== 'ok',
  )
  return (
    <>
      <LookFirst
        overview={overview}
        requests={requests.value.value?.items.length ?? 0}
        findings={doctorItems(findings)}
      />
      {session.may('listMessages') && !isBusFound(findings) && <BusNotice state={busState} />}
      <ReceiverNotice routes={routes.value.value?.routes ?? []} />
      {overview.alerts && <SeverityBar firing={overview.alerts.firing} />}
      {overview.orders && <OrderSection orders={overview.orders} series={series} period={period} />}
      <PartStats overview={overview} />
    </>
  )
}

interface OrderSectionProps {
  readonly orders: NonNullable<Overview['orders']>
  readonly series: Readings['series']
  readonly period: Period
}

function OrderSection({ orders, series, period }: OrderSectionProps) {
  const { orderTitle, period: label, periods } = overviewWords()
  return (
    <section class="page-section" aria-labelledby="orders-title">
      <header class="page-head">
        <h2 class="section-title" id="orders-title">
          {orderTitle}
        </h2>
        <LinkChoice
          label={label}
          choices={PERIODS.map((hours) => ({
            title: periods[hours],
            href: `${PATH}?hours=${hours}`,
            isCurrent: hours === period,
          }))}
        />
      </header>
      <ResourceView model={series}>{(value) => <OrderCourses orders={orders} series={value} />}</ResourceView>
    </section>
  )
}

const PAUSE_MS = 2_000
// The numbers come from several domains: any event may change them.
const ANY_EVENT = { live, prefix: '', pauseMs: PAUSE_MS }

/** The state of the platform now. */
const overviewResource: ResourceSource<AnswerOf<'getOverview'>> = {
  ...ANY_EVENT,
  read: (_, signal) => call('getOverview', {}, signal),
}

/** The orders over the last hours; the id is the number of hours. */
const overviewSeries: ResourceSource<OverviewSeries> = {
  ...ANY_EVENT,
  read: (hours, signal) => call('getOverviewSeries', { query: { hours: Number(hours) } }, signal),
}

type AlertRoutes = Pick<AnswerOf<'getAlertRoutes'>, 'routes'>

/** The routes of alerts, for those who can set them up. */
const alertRoutes: ResourceSource<AlertRoutes> = {
  live,
  prefix: '',
  isAbout: () => false,
  read: (_, signal) =>
    session.may('getConfig')
      ? call('getAlertRoutes', {}, signal)
      : Promise.resolve({ ok: true, value: { routes: [] }, etag: null }),
}

/** Warns that nobody is notified of some or all alerts, as long as the default route has no receiver. */
function ReceiverNotice({ routes }: AlertRoutes) {
  const { noReceiver, noDefaultReceiver, toReceivers } = overviewWords()
  const reached = routes.filter(({ receivers }) => receivers.length > 0)
  if (routes.length === 0 || reached.some(({ name }) => name === 'default')) return null
  return (
    <p class="page-notice">
      <Icon name="alerts" />
      <span>
        {reached.length === 0 ? noReceiver : noDefaultReceiver}{' '}
        <a href={pathOf('receivers')}>{toReceivers}</a>
      </span>
    </p>
  )
}

interface UrgentItem {
  readonly key: string
  readonly badge: StatusBadgeProps
  readonly text: ComponentChildren
  readonly remedy?: ComponentChildren
}

const SHOWN = 3

interface LookFirstProps {
  readonly overview: Overview
  /** How many requests wait for a decision of the user. */
  readonly requests: number
  readonly findings: readonly UrgentItem[]
}

/** What to look at first: what is urgent in the parts, what the doctor finds, and what waits for this user; all else folded. */
function LookFirst({ overview, requests, findings }: LookFirstProps) {
  const { lookTitle, lookMore } = overviewWords()
  const [alerts, parts] = partItems(overview)
  const urgentItems = [
    ...alerts,
    ...findings.slice(0, 1),
    ...requestItems(requests),
    ...parts,
    ...findings.slice(1),
  ]
  useActions(() => [{ title: lookTitle, keys: '1', isKeyOnly: true, run: focusFirstItem }])
  if (urgentItems.length === 0) return null
  const others = urgentItems.slice(SHOWN)
  return (
    <section class="page-section" aria-labelledby="look-title">
      <h2 class="section-title" id="look-title">
        {lookTitle}
      </h2>
      <ul class="finding-list">{urgentItems.slice(0, SHOWN).map(urgentItem)}</ul>
      {others.length > 0 && (
        <details>
          <summary>{lookMore(localNumber(others.length))}</summary>
          <ul class="finding-list">{others.map(urgentItem)}</ul>
        </details>
      )}
    </section>
  )
}

function focusFirstItem(): void {
  document.querySelector<HTMLElement>('.finding-list a')?.focus()
}

function urgentItem({ key, badge, text, remedy }: UrgentItem) {
  return (
    <li key={key} class="card">
      <StatusBadge {...badge} />
      <span>
        {text}
        {remedy && <span class="finding-remedy">→ {remedy}</span>}
      </span>
    </li>
  )
}

/** The urgent alerts, and the other parts that need a person; each user sees below which requests are for them. */
function partItems(
  overview: Overview,
): readonly [alerts: readonly UrgentItem[], parts: readonly UrgentItem[]] {
  const { tones } = overviewWords()
  const urgentItems = urgentParts((name) => partTone(name, overview))
    .filter((name) => name !== 'executions' && !(name === 'alerts' && areSilenced(overview)))
    .map((name) => {
      const tone = partTone(name, overview) ?? 'warning'
      return { key: name, badge: { tone, label: tones[tone] }, text: linkTo(name, overview) }
    })
  const alerts = urgentItems.filter(({ key }) => key === 'alerts')
  const severity = overview.alerts?.first?.severity ?? worstOf(overview)
  return [
    alerts.map((item) => ({ ...item, ...(severity && { badge: severityBadge(severity) }) })),
    urgentItems.filter(({ key }) => key !== 'alerts'),
  ]
}

/** Whether silences cover all alerts that fire. */
function areSilenced({ alerts }: Overview): boolean {
  return alerts !== null && alerts.urgent.length > 0 && alerts.first === null
}

/** The severity of the worst alert that fires. */
function worstOf({ alerts }: Overview) {
  return FIRING_SEVERITIES.find((severity) => (alerts?.firing[severity] ?? 0) > 0)
}

function severityBadge(severity: Alert['severity']): StatusBadgeProps {
  return { tone: SEVERITY_TONES[severity], label: alertWords().severities[severity] }
}

function requestItems(count: number): readonly UrgentItem[] {
  if (count === 0) return []
  const { parts, decide } = overviewWords()
  const text = (
    <a href={addressOf(pathOf('executions'), { status: 'awaiting_approval' })}>
      {decide(localNumber(count))}
    </a>
  )
  return [{ key: 'requests', badge: { tone: 'warning', label: parts.executions }, text }]
}

function linkTo<Name extends PartName>(name: Name, overview: Overview): ComponentChildren {
  const { steps, stepOfAlert } = overviewWords()
  const part = overview[name]
  if (part === null) return null
  const alert = name === 'alerts' ? overview.alerts?.first : undefined
  if (!alert) return <a href={partAddress(name, part)}>{steps[name]}</a>
  return <a href={pathOf('alerts', alert.id)}>{stepOfAlert(isolateText(alert.title))}</a>
}

type DoctorReport = AnswerOf<'getDoctorReport'>

/** What the doctor finds, for those who may ask it. */
const doctorReport: ResourceSource<Pick<DoctorReport, 'findings'>> = {
  live,
  prefix: '',
  // No event tells of a disk or a file.
  isAbout: () => false,
  read: (_, signal) =>
    session.may('getDoctorReport')
      ? call('getDoctorReport', {}, signal)
      : Promise.resolve({ ok: true, value: { findings: [] }, etag: null }),
}

/** Whether the findings of the doctor already say that the bus cannot be used. */
function isBusFound(findings: DoctorReport['findings']): boolean {
  return findings.some(({ check, result }) => check === 'bus' && result === 'error')
}

/** Errors first. */
function doctorItems(findings: DoctorReport['findings']): readonly UrgentItem[] {
  const { doctorResults } = overviewWords()
  const checks: Readonly<Record<string, string>> = doctorChecks()
  return (['error', 'warning'] as const).flatMap((result) =>
    findings
      .filter((finding) => finding.result === result)
      .map((finding) => ({
        key: `${finding.check} ${finding.subject} ${finding.detail}`,
        badge: { tone: result, label: doctorResults[result] },
        ...findingOf(finding, checks),
      })),
  )
}

function findingOf(
  finding: DoctorReport['findings'][number],
  checks: Readonly<Record<string, string>>,
): Pick<UrgentItem, 'text' | 'remedy'> {
  const { check } = finding
  const { lang, subject: ownSubject, detail, remedy } = doctorSentences(finding)
  const subject = ownSubject ?? finding.subject
  const text = (
    <>
      <span class="muted">{checks[check] ?? check}</span> ·{' '}
      <span lang={lang}>
        <b>{subject}</b> {detail.startsWith(`${subject} `) ? detail.slice(subject.length + 1) : detail}
      </span>
    </>
  )
  return { text, remedy: remedy !== null && <span lang={lang}>{remedy}</span> }
}

/** The alerts that fire as one bar: each severity leads to its alerts. */
function SeverityBar({ firing }: { readonly firing: NonNullable<Overview['alerts']>['firing'] }) {
  const { bySeverity, severityCount } = overviewWords()
  const firingSeverities = FIRING_SEVERITIES.filter((severity) => firing[severity] > 0)
  if (firingSeverities.length === 0) return null
  return (
    <section class="page-section" aria-labelledby="severities-title">
      <h2 class="section-title" id="severities-title">
        {bySeverity}
      </h2>
      <ul class="severity-bar">
        {firingSeverities.map((severity) => {
          const { tone, label } = severityBadge(severity)
          const text = severityCount(localNumber(firing[severity]), label)
          return (
            <li key={severity} style={{ flexGrow: firing[severity] }}>
              <a href={addressOf(pathOf('alerts'), { status: 'firing', level: severity })}>
                <StatusBadge tone={tone} label={text} />
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** The state of each part; what is not known yet is folded. */
function PartStats({ overview }: { readonly overview: Overview }) {
  const { health, unknown } = overviewWords()
  const stats = partStats(overview)
  const quiet = stats.filter(({ status }) => status?.tone === 'quiet')
  return (
    <>
      <Stats label={health} stats={stats.filter((stat) => !quiet.includes(stat))} />
      {quiet.length > 0 && (
        <details>
          <summary>{unknown(localNumber(quiet.length))}</summary>
          <Stats label={unknown(localNumber(quiet.length))} stats={quiet} />
        </details>
      )}
    </>
  )
}

interface OrderCoursesProps {
  readonly orders: NonNullable<Overview['orders']>
  readonly series: OverviewSeries
}

/** The orders by status: how many there are now, and how many entered the status over time. */
function OrderCourses({ orders, series }: OrderCoursesProps) {
  const { orderTable, orderChart, status, now, entered, from, atTime } = overviewWords()
  const current = useSignal<number | null>(null)
  const courses = orderCourses(orders, series)
  const times = columnTimes(series)
  const names = orderWords().statuses
  const chosen = current.value === null ? undefined : times[current.value]
  return (
    <div class="order-day card">
      <TimeChart
        label={orderChart}
        times={times}
        series={courses.map((course) => ({ name: names[course.status], values: course.columns }))}
        current={current.value}
        onCurrent={(index) => (current.value = index)}
      />
      <div class="course-frame" role="region" aria-label={orderTable} tabIndex={0}>
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
              <th scope="col" class="numeric">
                {chosen === undefined ? atTime : localTick(chosen, 0)}
              </th>
            </tr>
          </thead>
          <tbody>
            {courses.map((course, index) => (
              <CourseRow key={course.status} course={course} index={index} current={current.value} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

interface CourseRowProps {
  readonly course: StatusCourse
  /** The index of its column in the chart. */
  readonly index: number
  readonly current: number | null
}

function CourseRow({ course: { status, now, entered, columns }, index, current }: CourseRowProps) {
  const atTime = current === null ? null : (columns[current] ?? null)
  return (
    <tr>
      <th scope="row">
        <CourseMark index={index} />{' '}
        {session.may('listOrders') ? (
          <a href={addressOf(pathOf('orders'), { status })}>{orderWords().statuses[status]}</a>
        ) : (
          orderWords().statuses[status]
        )}
      </th>
      <td class="numeric">{localNumber(now)}</td>
      <td class="numeric">{entered === null ? '–' : localNumber(entered)}</td>
      <td class="numeric">{atTime === null ? '–' : localNumber(atTime)}</td>
    </tr>
  )
}
