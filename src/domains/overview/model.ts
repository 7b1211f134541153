import { DAY, HOUR, MINUTE } from '../../kernel/time.ts'
import type { LoggedEvent } from '../../ports/events.ts'

/** The duration of a step of the series (docs/specification.md, Overview). */
export const STEP_MS = 5 * MINUTE
const STEPS_PER_HOUR = HOUR / STEP_MS
export const DEFAULT_HOURS = 24
export const MAX_HOURS = 720
/** How long steps are kept. */
export const KEEP_MS = 31 * DAY

type OrderState = 'pending' | 'paid' | 'shipped' | 'completed' | 'expired'
/** How many orders there are of each status. */
export type OrderCounts = Readonly<Record<OrderState, number>>

/** What happens to an order; the columns of a step. */
export const ORDER_CHANGES = ['created', 'paid', 'shipped', 'completed', 'expired'] as const
export type OrderChangeName = (typeof ORDER_CHANGES)[number]
/** How many orders were created, or entered a status. */
export type ChangeCounts = Readonly<Record<OrderChangeName, number>>

/** One change of an order, as its event describes it. */
export interface CountedChange {
  readonly change: OrderChangeName
  /** Null for the creation. */
  readonly from: OrderState | null
  readonly to: OrderState
  /** Epoch milliseconds. */
  readonly at: number
}

/** The events of orders by their subject. */
export type OrderSubjects = Readonly<Record<string, OrderState>>

/** The change that an event describes; undefined for an event of another domain. */
export function changeOf(
  subjects: OrderSubjects,
  { subject, payload }: LoggedEvent,
): CountedChange | undefined {
  const to = subjects[subject]
  if (to === undefined) return undefined
  const { time, data } = JSON.parse(payload) as { time: string; data: { shipped_at: string | null } }
  const from = statusBefore(to, data.shipped_at !== null)
  return { change: to === 'pending' ? 'created' : to, from, to, at: Date.parse(time) }
}

/** An order is completed from `paid` or from `shipped`; every other status has one predecessor. */
function statusBefore(status: OrderState, wasShipped: boolean): OrderState | null {
  if (status === 'completed') return wasShipped ? 'shipped' : 'paid'
  return ({ pending: null, paid: 'pending', shipped: 'paid', expired: 'pending' } as const)[status]
}

/** The counts after these changes. */
export function countOrders(counts: OrderCounts, changes: readonly CountedChange[]): OrderCounts {
  return addChanges(counts, changes, 1)
}

/** The counts before these changes. */
export function countsBefore(counts: OrderCounts, changes: readonly CountedChange[]): OrderCounts {
  return addChanges(counts, changes, -1)
}

function addChanges(counts: OrderCounts, changes: readonly CountedChange[], sign: 1 | -1): OrderCounts {
  const sums = { ...counts }
  for (const { from, to } of changes) {
    if (from !== null) sums[from] -= sign
    sums[to] += sign
  }
  return sums
}

export const NO_CHANGES: ChangeCounts = { created: 0, paid: 0, shipped: 0, completed: 0, expired: 0 }

/** The number of each change by the beginning of the step in which it happened. */
export function countSteps(changes: readonly CountedChange[]): Map<number, ChangeCounts> {
  const steps = new Map<number, ChangeCounts>()
  for (const { change, at } of changes) {
    const counts = steps.get(stepOf(at)) ?? NO_CHANGES
    steps.set(stepOf(at), { ...counts, [change]: counts[change] + 1 })
  }
  return steps
}

/** When the step of a time begins. */
export function stepOf(at: number): number {
  return at - (at % STEP_MS)
}

/** One step of the series. A value is null when it is not known: no worker ran, or the step is not kept any more. */
export type Step = {
  readonly [Name in OrderChangeName | 'firingAlerts' | 'openSessions']: number | null
} & { readonly at: number }

const NO_DATA = {
  created: null,
  paid: null,
  shipped: null,
  completed: null,
  expired: null,
  firingAlerts: null,
  openSessions: null,
}

/** When the first of the last `hours` begins, as a whole number of steps; the step of `now` is the last one. */
export function firstStep(now: number, hours: number): number {
  return stepOf(now) - (hours * STEPS_PER_HOUR - 1) * STEP_MS
}

/** Every step from `from` to `to`: the stored ones with the changes that are not stored yet, the others without data. */
export function seriesOf(
  { from, to }: { readonly from: number; readonly to: number },
  stored: readonly Step[],
  changes: readonly CountedChange[],
): Step[] {
  const byTime = new Map(stored.map((step) => [step.at, step]))
  for (const [at, counts] of countSteps(changes)) byTime.set(at, addCounts(byTime.get(at), at, counts))
  const length = (to - from) / STEP_MS + 1
  return Array.from({ length }, (_, index) => {
    const at = from + index * STEP_MS
    return byTime.get(at) ?? { at, ...NO_DATA }
  })
}

function addCounts(step: Step | undefined, at: number, counts: ChangeCounts): Step {
  const before = step ?? { at, ...NO_DATA }
  const sums = ORDER_CHANGES.map((change) => [change, (before[change] ?? 0) + counts[change]] as const)
  return { ...before, ...(Object.fromEntries(sums) as ChangeCounts) }
}
