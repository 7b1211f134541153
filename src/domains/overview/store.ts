import type { NewRowOf } from '../../store/columns.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import { NO_CHANGES, type ChangeCounts, type OrderCounts, type Step } from './model.ts'
import { db, lockable, orderCounts, statement, steps } from './tables.ts'

/** The counts of the orders, up to one event. */
export interface StoredCounts extends OrderCounts {
  /** The place of the last event that is counted. */
  readonly place: number
}

const [readCounts, lockCounts] = lockable<object, StoredCounts>((on) =>
  on.selectFrom('overview_orders').select(orderCounts.all).limit(1),
)

const updateCounts = statement<StoredCounts>((on, value) =>
  on
    .updateTable('overview_orders')
    .set(orderCounts.set(value, 'place', 'pending', 'paid', 'shipped', 'completed', 'expired')),
)

const addChanges = statement<NewRowOf<typeof steps>>((on, value) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(value))
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

const insertSample = statement<NewRowOf<typeof steps>>((on, value) =>
  on
    .insertInto('overview_steps')
    .values(steps.values(value))
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
const range = statement<{ from: number; to: number }, CountedStep>((on, value) =>
  on
    .selectFrom((of) => of.selectFrom('overview_orders').select('place').as('counted'))
    .leftJoin('overview_steps', (join) => join.on('at', '>=', value('from')).on('at', '<=', value('to')))
    .select(['place', ...steps.all])
    .$castTo<CountedStep>(),
)

const behindNewest = statement<{ steps: number }, { at: number }>((on, value) =>
  on.selectFrom('overview_steps').select('at').orderBy('at', 'desc').limit(1).offset(value('steps')),
)

const removeLater = statement<{ at: number }>((on, value) =>
  on.deleteFrom('overview_steps').where('at', '>', value('at')),
)

export async function readOrderCounts(queries: Queries): Promise<StoredCounts> {
  return requireCounts(await first(queries, readCounts, {}))
}

/** Reads the counts and locks them until the end of the transaction. */
export async function lockOrderCounts(tx: Tx): Promise<StoredCounts> {
  return requireCounts(await first(tx, lockCounts, {}))
}

function requireCounts<T>(counts: T | undefined): T {
  if (counts) return counts
  throw new Error('The table overview_orders has no row; its migration inserts it.')
}

/** Writes the counts; the transaction must have locked them. */
export async function updateOrderCounts(tx: Tx, counts: StoredCounts): Promise<void> {
  await tx.change(updateCounts, counts)
}

/** Adds changes of orders to a step. */
export async function addToStep(tx: Tx, at: number, changes: ChangeCounts): Promise<void> {
  await tx.change(addChanges, { at, ...changes, firingAlerts: null, openSessions: null })
}

/** What is counted at one moment. */
export interface Sample {
  readonly firingAlerts: number
  readonly openSessions: number
}

/** Records the sample of a step; `false`, and nothing changes, when it has one. */
export async function recordSample(tx: Tx, at: number, sample: Sample): Promise<boolean> {
  return (await tx.change(insertSample, { at, ...NO_CHANGES, ...sample })) === 1
}

/** The stored steps that begin in a range, in any order, and the place of the last event that is counted in them. */
export async function readSteps(
  queries: Queries,
  from: number,
  to: number,
): Promise<{ place: number; stored: Step[] }> {
  const rows = await queries.run(range, { from, to })
  const stored = rows.flatMap(({ place: _place, ...step }) => (step.at === null ? [] : step))
  return { place: requireCounts(rows[0]).place, stored }
}

/** When the step begins that has `count` newer ones; undefined if there are not so many. */
export async function stepBehindNewest(queries: Queries, count: number): Promise<number | undefined> {
  return (await first(queries, behindNewest, { steps: count }))?.at
}

/** Removes the steps that begin later than `at`. */
export async function removeStepsAfter(tx: Tx, at: number): Promise<void> {
  await tx.change(removeLater, { at })
}

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
