import type { NewRowOf } from '../../store/columns.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { NO_CHANGES, type ChangeCounts, type OrderCounts, type Step } from './model.ts'
import { db, orderCounts, steps, readRow, readRows, changeRow, changeRows, lockable } from './tables.ts'

/** The counts of the orders, up to one event. */
export interface StoredCounts extends OrderCounts {
  /** The place of the last event that is counted. */
  readonly place: number
}

const [readCounts, lockCounts] = lockable((on) =>
  on.selectFrom('overview_orders').select(orderCounts.all).limit(1),
)

const addChanges = changeRows((on, row: NewRowOf<typeof steps>) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(row))
    .onConflict((conflict) =>
      conflict.column('at').doUpdateSet((row) => ({
        created: row('overview_steps.created', '+', row.ref('excluded.created')),
        paid: row('overview_steps.paid', '+', row.ref('excluded.paid')),
        shipped: row('overview_steps.shipped', '+', row.ref('excluded.shipped')),
        completed: row('overview_steps.completed', '+', row.ref('excluded.completed')),
        expired: row('overview_steps.expired', '+', row.ref('excluded.expired')),
      })),
    ),
)

const insertSample = changeRow((on, row: NewRowOf<typeof steps>) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(row))
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
const range = readRows((on, from: number, to: number) =>
  on
    .selectFrom((of) => of.selectFrom('overview_orders').select('place').as('counted'))
    .leftJoin('overview_steps', (join) => join.on('at', '>=', from).on('at', '<=', to))
    .select(['place', ...steps.all])
    .$castTo<CountedStep>(),
)

const behindNewest = readRow((on, steps: number) =>
  on.selectFrom('overview_steps').select('at').orderBy('at', 'desc').limit(1).offset(steps),
)

export async function readOrderCounts(queries: Queries): Promise<StoredCounts> {
  return requireCounts(await readCounts(queries))
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
  on
    .updateTable('overview_orders')
    .set(orderCounts.set(counts, 'place', 'pending', 'paid', 'shipped', 'completed', 'expired')),
)

/** Adds changes of orders to a step. */
export async function addToStep(tx: Tx, at: number, changes: ChangeCounts): Promise<void> {
  await addChanges(tx, { at, ...changes, firingAlerts: null, openSessions: null })
}

/** What is counted at one moment. */
export interface Sample {
  readonly firingAlerts: number
  readonly openSessions: number
}

/** Records the sample of a step; `false`, and nothing changes, when it has one. */
export async function recordSample(tx: Tx, at: number, sample: Sample): Promise<boolean> {
  return await insertSample(tx, { at, ...NO_CHANGES, ...sample })
}

/** The stored steps that begin in a range, in any order, and the place of the last event that is counted in them. */
export async function readSteps(
  queries: Queries,
  from: number,
  to: number,
): Promise<{ place: number; stored: Step[] }> {
  const rows = await range(queries, from, to)
  const stored = rows.flatMap(({ place: _place, ...step }) => (step.at === null ? [] : step))
  return { place: requireCounts(rows[0]).place, stored }
}

/** When the step begins that has `count` newer ones; undefined if there are not so many. */
export async function stepBehindNewest(queries: Queries, count: number): Promise<number | undefined> {
  return (await behindNewest(queries, count))?.at
}

/** Removes the steps that begin later than `at`. */
export const removeStepsAfter = changeRows((on, at: number) =>
  on.deleteFrom('overview_steps').where('at', '>', at),
)

/** Removes one batch of the steps that begin before `before`; returns how many. */
export async function removeStepsBefore(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db(tx)
    .deleteFrom('overview_steps')
    .where('at', 'in', (of) =>
      of.selectFrom('overview_steps').select('at').where('at', '<', before).orderBy('at').limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
