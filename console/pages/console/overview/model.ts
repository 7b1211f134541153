import { VALUES } from '../../../api/generated.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { columnsOf, sumOf, type ColumnValue } from '../../../parts/chart/columns-of.ts'
import type { BusState } from '../bus-health.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { certificateTone } from '../certificates/model.ts'
import { coveringSilence } from '../silences/covering.ts'
import type { Silence } from '../silences/model.ts'
import type { AlertStates } from './alert-states.ts'

type Answer = AnswerOf<'getOverview'>

/** What the API answers, whether the bus accepts messages, and the state of the alerts. */
export interface Overview extends Omit<Answer, 'alerts' | 'messages'> {
  readonly alerts: AlertsPart | null
  readonly messages: (NonNullable<Answer['messages']> & { readonly bus: BusState }) | null
}

interface AlertsPart extends AlertStates {
  readonly firing: NonNullable<Answer['alerts']>
  /** The one to look at first: the most urgent one that no silence covers. */
  readonly first: AlertStates['urgent'][number] | null
}

export function overviewOf(
  answer: Answer,
  bus: BusState,
  states: AlertStates,
  silences: readonly Silence[],
): Overview {
  const first = states.urgent.find((alert) => !coveringSilence(alert, silences)) ?? null
  return {
    ...answer,
    alerts: answer.alerts && { firing: answer.alerts, ...states, first },
    messages: answer.messages && { ...answer.messages, bus },
  }
}

export type OverviewSeries = AnswerOf<'getOverviewSeries'>

/** The periods of the chart, in hours. */
export const PERIODS = ['6', '24', '168'] as const
export type Period = (typeof PERIODS)[number]

/** The period of an address; a day for another value. */
export function periodOf(text: string | undefined): Period {
  return PERIODS.find((period) => period === text) ?? '24'
}

const STATUSES = VALUES.listOrders.status
type OrderStatus = (typeof STATUSES)[number]
const MOST_COLUMNS = 48

export interface StatusCourse {
  readonly status: OrderStatus
  /** How many orders have the status now. */
  readonly now: number
  /** How many orders entered it in the period; null if that is not known. */
  readonly entered: ColumnValue
  readonly columns: readonly ColumnValue[]
}

/** How many orders entered each status over time. A new order is pending. */
export function orderCourses(
  orders: NonNullable<Overview['orders']>,
  { items }: OverviewSeries,
): readonly StatusCourse[] {
  return STATUSES.map((status) => {
    const values = items.map((step) => step[status === 'pending' ? 'created' : status])
    return { status, now: orders[status], entered: sumOf(values), columns: columnsOf(values, MOST_COLUMNS) }
  })
}

/** When each column of the courses begins, in epoch milliseconds. */
export function columnTimes({ items }: OverviewSeries): readonly number[] {
  const perColumn = Math.max(1, Math.ceil(items.length / MOST_COLUMNS))
  return items.filter((_, index) => index % perColumn === 0).map(({ at }) => Date.parse(at))
}

/** The sum of counts by severity, level or status. */
export function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

type Part<Name extends keyof Overview> = NonNullable<Overview[Name]>

export type PartName = Exclude<keyof Overview, 'at' | 'orders'>

function firstTone(...rules: readonly (readonly [count: number, tone: Tone])[]): Tone {
  return rules.find(([count]) => count > 0)?.[1] ?? 'good'
}

const LAST_TONES = {
  running: 'active',
  completed: 'good',
  succeeded: 'good',
  failed: 'danger',
  lost: 'danger',
} as const satisfies Record<string, Tone>

const DAY_MS = 86_400_000
// Without a configured period, a backup is expected each day.
const DEFAULT_OLD_MS = 2 * DAY_MS

/** Whether the last completed backup is so old that somebody has to look why. */
function isBackupOld({ last, backup_every_seconds: every }: Part<'data_backups'>, now: number): boolean {
  if (last?.status !== 'completed') return false
  const oldMs = every === null ? DEFAULT_OLD_MS : 2 * every * 1_000
  return now - Date.parse(last.finished_at ?? last.created_at) > oldMs
}

const DRILL_TONES = { waiting: 'quiet', ok: 'good', missed: 'danger' } as const satisfies Record<string, Tone>

/** How the state of each part is judged at this time. */
export const PART_TONES: {
  readonly [Name in Exclude<PartName, 'pool'>]: (part: Part<Name>, now: number) => Tone
} = {
  alerts: ({ firing: { CRITICAL, HIGH, ERROR, WARNING, INFO }, acknowledged, frozen }) =>
    firstTone(
      [CRITICAL + HIGH, 'danger'],
      [ERROR + WARNING + frozen.length, 'warning'],
      [INFO + acknowledged.length, 'active'],
    ),
  heartbeats: ({ late }) => firstTone([late, 'danger']),
  tickets: (levels) =>
    firstTone([levels.critical, 'danger'], [levels.high, 'warning'], [totalOf(levels), 'active']),
  messages: ({ dead, pending, bus }) =>
    firstTone([dead, 'danger'], [pending, bus === 'ok' ? 'active' : 'warning']),
  executions: ({ awaiting_approval }) => firstTone([awaiting_approval, 'warning']),
  payments: ({ attention }) => firstTone([attention, 'danger']),
  sessions: () => 'good',
  // As in the list of the certificates, where one that ends within days stands out.
  certificates: ({ expired, expiring, items: [first] }) =>
    expired === 0 && first
      ? certificateTone({ status: 'expiring', days_left: first.days_left, warnings: [] })
      : firstTone([expired, 'danger'], [expiring, 'warning']),
  data_backups(part, now) {
    if (part.last === null) return 'quiet'
    return isBackupOld(part, now) ? 'warning' : LAST_TONES[part.last.status]
  },
  night: ({ last }) => (last === null ? 'quiet' : LAST_TONES[last.status]),
  drill: ({ status }) => (status === null ? 'quiet' : DRILL_TONES[status]),
}

/** The parts in the order of their urgency. */
const BY_URGENCY: readonly PartName[] = [
  'alerts',
  'night',
  'data_backups',
  'payments',
  'messages',
  'heartbeats',
  'certificates',
  'tickets',
  'pool',
  'drill',
  'executions',
  'sessions',
]

/** The parts that need a person: first those with a problem, then what is to be checked. */
export function urgentParts(toneOf: (name: PartName) => Tone | undefined): readonly PartName[] {
  return (['danger', 'warning'] as const).flatMap((tone) =>
    BY_URGENCY.filter((name) => toneOf(name) === tone),
  )
}
