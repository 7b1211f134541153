import type { RowOf } from '../../store/columns.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { NO_CHANGES, ORDER_CHANGES, type ChangeCounts, type OrderChangeName, type Step } from './model.ts'
import { orderCounts, steps, changeRow, changeRows, lockable, readRow, readRows } from './tables.ts'

/** The counts of the orders, up to one event. */
export type StoredCounts = RowOf<typeof orderCounts>

const [findCounts, lockCounts] = lockable((on) =>
  on.selectFrom('overview_orders').select(orderCounts.all).limit(1),
)

const addStep = changeRows((on, step: RowOf<typeof steps>) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(step))
    .onConflict((conflict) =>
      conflict.column('at').doUpdateSet((row) => {
        const sumOf = (change: OrderChangeName) =>
          [change, row(`overview_steps.${change}`, '+', row.ref(`excluded.${change}`))] as const
        return Object.fromEntries(ORDER_CHANGES.map(sumOf))
      }),
    ),
)

const insertSample = changeRow((on, step: RowOf<typeof steps>) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(step))
    .onConflict((conflict) =>
      conflict
        .column('at')
        .doUpdateSet((row) => ({
          firing_alerts: row.ref('excluded.firing_alerts'),
          open_sessions: row.ref('excluded.open_sessions'),
        }))
        .where('overview_steps.firing_alerts', 'is', null),
    ),
)

/** A step, or no step where there are none, with the place of the last event that is counted. */
type CountedStep = { readonly place: number } & (Step | { readonly at: null })

// In one statement: a worker moves the place together with the changes that it adds to the steps.
const listSteps = readRows((on, from: number, to: number) =>
  on
    .selectFrom((subquery) => subquery.selectFrom('overview_orders').select('place').as('counted'))
    .leftJoin('overview_steps', (join) => join.on('at', '>=', from).on('at', '<=', to))
    .select(['place', ...steps.all])
    .$castTo<CountedStep>(),
)

/** When the step begins that has `count` newer ones; undefined if there are not so many. */
export const findStepBehindNewest = readRow(
  (on, count: number) =>
    on.selectFrom('overview_steps').select('at').orderBy('at', 'desc').limit(1).offset(count),
  ({ at }) => at,
)

export async function readOrderCounts(queries: Queries): Promise<StoredCounts> {
  return requireCounts(await findCounts(queries))
}

/** Reads the counts and locks them until the end of the transaction. */
export async function lockOrderCounts(tx: Tx): Promise<StoredCounts> {
  return requireCounts(await lockCounts(tx))
}

function requireCounts<T>(counts: T | undefined): T {
  if (counts) return counts
  throw new Error('The table overview_orders has no row; its migration inserts it.')
}

/** Writes the counts; the transaction must have locked them. */
export const updateOrderCounts = changeRows((on, counts: StoredCounts) =>
  on.updateTable('overview_orders').set(orderCounts.setExcept(counts)),
)

/** Adds changes of orders to a step. */
export async function addToStep(tx: Tx, at: number, changes: ChangeCounts): Promise<void> {
  await addStep(tx, { at, ...changes, firingAlerts: null, openSessions: null })
}

/** What is counted at one moment. */
export interface Sample {
  readonly firingAlerts: number
  readonly openSessions: number
}

/** Records the sample of a step; `false`, and nothing changes, when it has one. */
export function recordSample(tx: Tx, at: number, sample: Sample): Promise<boolean> {
  return insertSample(tx, { at, ...NO_CHANGES, ...sample })
}

/** The stored steps that begin in a range, in any order, and the place of the last event that is counted in them. */
export async function readSteps(
  queries: Queries,
  from: number,
  to: number,
): Promise<{ place: number; stored: Step[] }> {
  const rows = await listSteps(queries, from, to)
  const stored = rows.flatMap(({ place: _place, ...step }) => (step.at === null ? [] : step))
  return { place: requireCounts(rows[0]).place, stored }
}

/** Removes the steps that begin later than `at`. */
export const deleteStepsAfter = changeRows((on, at: number) =>
  on.deleteFrom('overview_steps').where('at', '>', at),
)

/** Removes one batch of the steps that begin before `before`; returns how many. */
export const deleteStepsBefore = changeRows((on, before: number, limit: number) =>
  on
    .deleteFrom('overview_steps')
    .where('at', 'in', (subquery) =>
      subquery.selectFrom('overview_steps').select('at').where('at', '<', before).orderBy('at').limit(limit),
    ),
)
