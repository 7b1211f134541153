import type { AnswerOf } from '../../../api/operations.ts'
import { columnsOf, sumOf, type ColumnValue } from '../../../parts/chart/columns-of.ts'
import type { BusState } from '../bus-health.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

type Answer = AnswerOf<'getOverview'>

/** What the API answers, and whether the bus accepts messages. */
export interface Overview extends Omit<Answer, 'messages'> {
  readonly messages: (NonNullable<Answer['messages']> & { readonly bus: BusState }) | null
}

export function overviewOf(answer: Answer, bus: BusState): Overview {
  return { ...answer, messages: answer.messages && { ...answer.messages, bus } }
}

export type OverviewSeries = AnswerOf<'getOverviewSeries'>

/** The periods of the chart, in hours. */
export const PERIODS = ['6', '24', '168'] as const
export type Period = (typeof PERIODS)[number]

/** The period of an address; a day for another value. */
export function periodOf(text: string | undefined): Period {
  return PERIODS.find((period) => period === text) ?? '24'
}

const STATUSES = ['pending', 'paid', 'shipped', 'completed', 'expired'] as const
const MOST_COLUMNS = 48

export interface StatusCourse {
  readonly status: (typeof STATUSES)[number]
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

const DRILL_TONES = { waiting: 'quiet', ok: 'good', missed: 'danger' } as const satisfies Record<string, Tone>

/** How the state of each part is judged. */
export const PART_TONES: {
  readonly [Name in Exclude<PartName, 'pool'>]: (part: Part<Name>) => Tone
} = {
  alerts: ({ CRITICAL, HIGH, ERROR, WARNING, INFO }) =>
    firstTone([CRITICAL + HIGH, 'danger'], [ERROR + WARNING, 'warning'], [INFO, 'active']),
  heartbeats: ({ late }) => firstTone([late, 'danger']),
  tickets: (levels) =>
    firstTone([levels.critical, 'danger'], [levels.high, 'warning'], [totalOf(levels), 'active']),
  messages: ({ dead, pending, bus }) =>
    firstTone([dead, 'danger'], [pending, bus === 'ok' ? 'active' : 'warning']),
  executions: ({ awaiting_approval }) => firstTone([awaiting_approval, 'warning']),
  sessions: () => 'good',
  certificates: ({ expired, expiring }) => firstTone([expired, 'danger'], [expiring, 'warning']),
  data_backups: ({ last }) => (last === null ? 'quiet' : LAST_TONES[last.status]),
  night: ({ last }) => (last === null ? 'quiet' : LAST_TONES[last.status]),
  drill: ({ status }) => (status === null ? 'quiet' : DRILL_TONES[status]),
}
