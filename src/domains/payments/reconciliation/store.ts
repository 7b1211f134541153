import { sql } from 'kysely'
import type { Page, PageOrder, PageRequest } from '../../../kernel/page.ts'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import type { AnyQuery } from '../../../store/pages.ts'
import { first, type Queries, type Reads, type Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import { db, pages, paymentDifferences, paymentReconciliations, statement } from '../tables.ts'
import type { Difference, DifferenceKind, OwnRow, OwnTimes, Reconciliation } from './model.ts'

export type ReconciliationRow = RowOf<typeof paymentReconciliations>
type Stored = Omit<ReconciliationRow, 'isAlerted'> & { readonly isAlerted: number }

export const reconciliationQueue = new WorkQueue('payment_reconciliations', paymentReconciliations)

const insert = statement<NewRowOf<typeof paymentReconciliations>>((on, value) =>
  on
    .insertInto('payment_reconciliations')
    .values(paymentReconciliations.values(value))
    .onConflict((conflict) => conflict.doNothing()),
)

const find = statement<{ id: string }, Stored>((on, value) =>
  on.selectFrom('payment_reconciliations').select(paymentReconciliations.all).where('id', '=', value('id')),
)

const newestOfDay = statement<{ channel: string; date: string }, Stored>((on, value) =>
  on
    .selectFrom('payment_reconciliations')
    .select(paymentReconciliations.all)
    .where('channel', '=', value('channel'))
    .where('date', '=', value('date'))
    .orderBy('seq', 'desc')
    .limit(1),
)

const finish = statement<ReconciliationRow>((on, value) =>
  on
    .updateTable('payment_reconciliations')
    .set(
      paymentReconciliations.set(
        value,
        'status',
        'matched',
        'differences',
        'error',
        'finishedAt',
        'isAlerted',
      ),
    )
    .where('id', '=', value('id'))
    .where('status', '=', sql.lit('running')),
)

const endLease = statement<{ id: string }>((on, value) =>
  on
    .updateTable('payment_reconciliations')
    .set({ due_at: null, lease_holder: null })
    .where('id', '=', value('id')),
)

const clearAlerts = statement<{ channel: string; date: string }>((on, value) =>
  on
    .updateTable('payment_reconciliations')
    .set({ is_alerted: 0 })
    .where('channel', '=', value('channel'))
    .where('date', '=', value('date'))
    .where('is_alerted', '=', 1),
)

const alerted = statement<{ channel: string }, { id: string }>((on, value) =>
  on
    .selectFrom('payment_reconciliations')
    .select('id')
    .where('channel', '=', value('channel'))
    .where('is_alerted', '=', 1)
    .limit(1),
)

const removeDifferences = statement<{ id: string }>((on, value) =>
  on.deleteFrom('payment_differences').where('reconciliation_id', '=', value('id')),
)

interface OwnRequest {
  readonly channel: string
  readonly from: number
  readonly to: number
  readonly at: number
  readonly seq: number
  readonly limit: number
}
type OwnPosition = OwnRow & OwnTimes & { readonly seq: number }

const paidCents = sql<number>`coalesce(paid_cents, amount_cents)`

const paidOn = statement<OwnRequest, Omit<OwnPosition, 'type'>>((on, value) =>
  on
    .selectFrom('payments')
    .select([
      'number',
      'id as paymentId',
      'status',
      paidCents.as('cents'),
      sql<number>`paid_at`.as('beganAt'),
      sql<number>`paid_at`.as('at'),
      'seq',
    ])
    .where('channel', '=', value('channel'))
    .where('paid_at', '>=', value('from'))
    .where('paid_at', '<', value('to'))
    .where(sql<boolean>`(paid_at, seq) > (${value('at')}, ${value('seq')})`)
    .orderBy('paid_at')
    .orderBy('seq')
    .limit(value('limit')),
)

const refundedOn = statement<OwnRequest, Omit<OwnPosition, 'type'>>((on, value) =>
  on
    .selectFrom('payment_refunds')
    .select([
      'number',
      'payment_id as paymentId',
      'status',
      'amount_cents as cents',
      'created_at as beganAt',
      sql<number>`finished_at`.as('at'),
      'seq',
    ])
    .where('channel', '=', value('channel'))
    .where('finished_at', '>=', value('from'))
    .where('finished_at', '<', value('to'))
    .where(sql<boolean>`(finished_at, seq) > (${value('at')}, ${value('seq')})`)
    .where('status', '=', sql.lit('succeeded'))
    .orderBy('finished_at')
    .orderBy('seq')
    .limit(value('limit')),
)

const toRow = (row: Stored | undefined): ReconciliationRow | undefined =>
  row && paymentReconciliations.decode(row)

/** `false` when another one of the channel is running. */
export async function insertReconciliation(
  tx: Tx,
  row: NewRowOf<typeof paymentReconciliations>,
): Promise<boolean> {
  return (await tx.change(insert, row)) === 1
}

export async function findReconciliation(reads: Reads, id: string): Promise<ReconciliationRow | undefined> {
  return toRow(await first(reads, find, { id }))
}

/** The newest one of a day. */
export async function findNewestOfDay(
  reads: Reads,
  channel: string,
  date: string,
): Promise<ReconciliationRow | undefined> {
  return toRow(await first(reads, newestOfDay, { channel, date }))
}

/** `false` when it has ended already. */
export async function finishReconciliation(tx: Tx, row: ReconciliationRow): Promise<boolean> {
  return (await tx.change(finish, row)) === 1
}

export async function releaseReconciliation(tx: Tx, id: string): Promise<void> {
  await tx.change(endLease, { id })
}

/** The alerts of that day are over; returns whether the channel has others. */
export async function clearDayAlerts(
  tx: Tx,
  channel: string,
  date: string,
): Promise<{ cleared: boolean; others: boolean }> {
  const cleared = (await tx.change(clearAlerts, { channel, date })) > 0
  return { cleared, others: (await first(tx, alerted, { channel })) !== undefined }
}

/**
 * The rows of ours with these numbers on a channel. The channel is compared here: a database that takes it for the rarer
 * condition would read all rows of the channel for each batch.
 */
export async function findOwnRows(
  queries: Queries,
  channel: string,
  numbers: readonly string[],
): Promise<Map<string, OwnRow>> {
  const on = db(queries)
  const paymentRows = await on
    .selectFrom('payments')
    .select(['number', 'channel', 'id as paymentId', 'status', paidCents.as('cents')])
    .where('number', 'in', numbers)
    .execute()
  const rows = paymentRows.map((row) => ({ type: 'payment' as const, ...row }))
  const refundRows =
    rows.length === numbers.length
      ? []
      : await on
          .selectFrom('payment_refunds')
          .select(['number', 'channel', 'payment_id as paymentId', 'status', 'amount_cents as cents'])
          .where('number', 'in', numbers)
          .execute()
  const all = [...rows, ...refundRows.map((row) => ({ type: 'refund' as const, ...row }))]
  return new Map(all.filter((row) => row.channel === channel).map((row) => [row.number, row]))
}

export interface Day {
  readonly channel: string
  readonly from: number
  readonly to: number
}

/** The payments and refunds of ours on a day, in batches. */
export async function* ownRowsOf(
  reads: Reads,
  day: Day,
  limit: number,
): AsyncIterable<readonly (OwnRow & OwnTimes)[]> {
  for (const [type, query] of [
    ['payment', paidOn],
    ['refund', refundedOn],
  ] as const) {
    let position = { at: day.from - 1, seq: 0 }
    for (;;) {
      // The index is searched from there: a database reads all rows of the day before a position that it only compares.
      const from = Math.max(day.from, position.at)
      const rows = await reads.run(query, { ...day, ...position, from, limit })
      if (rows.length > 0) yield rows.map((row) => ({ ...row, type }))
      const last = rows.at(-1)
      if (!last || rows.length < limit) break
      position = { at: last.at, seq: last.seq }
    }
  }
}

export async function insertDifferences(
  tx: Tx,
  id: string,
  differences: readonly Difference[],
): Promise<void> {
  if (differences.length === 0) return
  const rows = differences.map((difference) => {
    const row = { ...difference, reconciliationId: id }
    return paymentDifferences.values((name) => row[name])
  })
  await db(tx).insertInto('payment_differences').values(rows).execute()
}

export async function deleteDifferences(tx: Tx, id: string): Promise<void> {
  await tx.change(removeDifferences, { id })
}

const readReconciliations = pages(
  { table: 'payment_reconciliations', createdAt: 'created_at' },
  (on) =>
    on
      .selectFrom('payment_reconciliations')
      .select(
        paymentReconciliations.except('isAlerted', 'dueAt', 'leaseHolder', 'attempts', 'queuedAt', 'trace'),
      ),
  {},
)

/** Newest first. */
export function listReconciliations(reads: Reads, page: PageRequest): Promise<Page<Reconciliation>> {
  return readReconciliations(reads, {}, page)
}

const readDifferences = pages(
  { table: 'payment_differences' },
  (on) => on.selectFrom('payment_differences').select(paymentDifferences.except('reconciliationId')),
  {
    reconciliationId: (query: AnyQuery, id: string) => query.where('reconciliation_id', '=', id),
    kind: (query: AnyQuery, kind: DifferenceKind) => query.where('kind', '=', kind),
  },
)

export interface DifferenceFilter {
  readonly reconciliationId: string
  readonly kind?: DifferenceKind | undefined
}

/** In the order in which they were found. */
export function listDifferences(
  reads: Reads,
  filter: DifferenceFilter,
  page: PageRequest & { readonly order: PageOrder<'seq'> },
): Promise<Page<Difference>> {
  return readDifferences(reads, filter, page)
}
