import { sql } from 'kysely'
import type { Page, PageOrder, PageRequest } from '../../../kernel/page.ts'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import type { AnyQuery } from '../../../store/pages.ts'
import { statement, type QueryOf } from '../../../store/statement.ts'
import type { Queries, Reads, Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import {
  db,
  pages,
  paymentDifferences,
  paymentReconciliations,
  readRow,
  readRows,
  changeRow,
  changeRows,
} from '../tables.ts'
import type { Difference, DifferenceKind, OwnRow, OwnTimes, Reconciliation, Side } from './model.ts'

export type ReconciliationRow = RowOf<typeof paymentReconciliations>
type Stored = Omit<ReconciliationRow, 'isAlerted'> & { readonly isAlerted: number }

export const reconciliationQueue = new WorkQueue('payment_reconciliations', paymentReconciliations)

const find = readRow((on, id: string) =>
  on.selectFrom('payment_reconciliations').select(paymentReconciliations.all).where('id', '=', id),
)

const newestOfDay = readRow((on, channel: string, date: string) =>
  on
    .selectFrom('payment_reconciliations')
    .select(paymentReconciliations.all)
    .where('channel', '=', channel)
    .where('date', '=', date)
    .orderBy('seq', 'desc')
    .limit(1),
)

const clearAlerts = changeRow((on, channel: string, date: string) =>
  on
    .updateTable('payment_reconciliations')
    .set({ is_alerted: 0 })
    .where('channel', '=', channel)
    .where('date', '=', date)
    .where('is_alerted', '=', 1),
)

const alerted = readRow((on, channel: string) =>
  on
    .selectFrom('payment_reconciliations')
    .select('id')
    .where('channel', '=', channel)
    .where('is_alerted', '=', 1)
    .limit(1),
)

interface OwnRequest {
  readonly channel: string
  readonly from: number
  readonly to: number
  readonly at: number
  readonly seq: number
  readonly limit: number
}

/** A row of ours of a day: its number in its table, and when it happened. */
interface OwnPosition {
  readonly seq: number
  readonly at: number
}

const paidCents = sql<number>`coalesce(paid_cents, amount_cents)`

// It reads the index alone: a day may have a million payments, and all but a few are in the books.
const paidOn = readRows((on, { channel, from, to, at, seq, limit }: OwnRequest) =>
  on
    .selectFrom('payments')
    .select([sql<number>`paid_at`.as('at'), 'seq'])
    .where('channel', '=', channel)
    .where('paid_at', '>=', from)
    .where('paid_at', '<', to)
    .where(sql<boolean>`(paid_at, seq) > (${at}, ${seq})`)
    .orderBy('paid_at')
    .orderBy('seq')
    .limit(limit),
)

const refundedOn = readRows((on, { channel, from, to, at, seq, limit }: OwnRequest) =>
  on
    .selectFrom('payment_refunds')
    .select([sql<number>`finished_at`.as('at'), 'seq'])
    .where('channel', '=', channel)
    .where('finished_at', '>=', from)
    .where('finished_at', '<', to)
    .where(sql<boolean>`(finished_at, seq) > (${at}, ${seq})`)
    .where('status', '=', sql.lit('succeeded'))
    .orderBy('finished_at')
    .orderBy('seq')
    .limit(limit),
)

/**
 * The most numbers that {@link findOwnRows} takes: a bound for the variables of a statement, for a turn of the event loop, and
 * for what the garbage collector keeps of each batch.
 */
export const LARGEST_BATCH = 200
const PLACES = Array.from({ length: LARGEST_BATCH }, (_, place) => String(place))

type FoundRow = Omit<OwnRow, 'type'>

/** Numbers by their places. */
type Places = Readonly<Record<string, string>>

// With one text for all batches: to make the text takes longer than to search for the numbers. The channel is no condition: a
// database that takes it for the rarer one would read all rows of the channel for each batch.
const paymentsByNumber = readRows((on, channel: string, numbers: Places) =>
  on
    .selectFrom('payments')
    .select(['seq', 'number', 'id as paymentId', 'status', paidCents.as('cents')])
    .select(isOfChannel(channel))
    .where(
      'number',
      'in',
      PLACES.map((place) => numbers[place] ?? ''),
    ),
)

const refundsByNumber = readRows((on, channel: string, numbers: Places) =>
  on
    .selectFrom('payment_refunds')
    .select(['seq', 'number', 'payment_id as paymentId', 'status', 'amount_cents as cents'])
    .select(isOfChannel(channel))
    .where(
      'number',
      'in',
      PLACES.map((place) => numbers[place] ?? ''),
    ),
)

/** A row of ours that was paid or refunded, and the place of its number among those that were asked for. */
export interface MatchRow {
  readonly seq: number
  readonly place: number
  readonly cents: number
}

// Integers alone, and one parameter, a JSON array: texts and parameters of a million rows take longer than to find the rows.
// The channel is an expression for the reason above.
const paidByNumber = statement(
  ({ db: on, capabilities: { textsOf } }, channel: string, numbers: string): QueryOf<MatchRow> =>
    on
      .selectFrom(textsOf(numbers).as('wanted'))
      .crossJoin('payments')
      .select(['payments.seq', 'wanted.place', paidCents.as('cents')])
      .where(sql<boolean>`payments.number = wanted.value`)
      .where('status', '=', sql.lit('paid'))
      .where(sql<boolean>`coalesce(channel, '') = ${channel}`),
)

const refundedByNumber = statement(
  ({ db: on, capabilities: { textsOf } }, channel: string, numbers: string): QueryOf<MatchRow> =>
    on
      .selectFrom(textsOf(numbers).as('wanted'))
      .crossJoin('payment_refunds')
      .select(['payment_refunds.seq', 'wanted.place', 'amount_cents as cents'])
      .where(sql<boolean>`payment_refunds.number = wanted.value`)
      .where('status', '=', sql.lit('succeeded'))
      .where(sql<boolean>`coalesce(channel, '') = ${channel}`),
)

const MATCHES = { payment: paidByNumber, refund: refundedByNumber }

function isOfChannel(channel: string) {
  return sql<number>`cast(channel = ${channel} as integer)`.as('isOfChannel')
}

const BY_NUMBER = { payment: paymentsByNumber, refund: refundsByNumber }

const toRow = (row: Stored | undefined): ReconciliationRow | undefined =>
  row && paymentReconciliations.decode(row)

/** `false` when another one of the channel is running. */
export const insertReconciliation = changeRow((on, row: NewRowOf<typeof paymentReconciliations>) =>
  on
    .insertInto('payment_reconciliations')
    .values(paymentReconciliations.values(row))
    .onConflict((conflict) => conflict.doNothing()),
)

export async function findReconciliation(reads: Reads, id: string): Promise<ReconciliationRow | undefined> {
  return toRow(await find(reads, id))
}

/** The newest one of a day. */
export async function findNewestOfDay(
  reads: Reads,
  channel: string,
  date: string,
): Promise<ReconciliationRow | undefined> {
  return toRow(await newestOfDay(reads, channel, date))
}

/** `false` when it has ended already. */
export const finishReconciliation = changeRow((on, row: ReconciliationRow) =>
  on
    .updateTable('payment_reconciliations')
    .set(
      paymentReconciliations.set(row, 'status', 'matched', 'differences', 'error', 'finishedAt', 'isAlerted'),
    )
    .where('id', '=', row.id)
    .where('status', '=', sql.lit('running')),
)

export const releaseReconciliation = changeRows((on, id: string) =>
  on.updateTable('payment_reconciliations').set({ due_at: null, lease_holder: null }).where('id', '=', id),
)

/** Records that the alerts of a day are over. Returns whether other days of the channel have alerts. */
export async function clearDayAlerts(
  tx: Tx,
  channel: string,
  date: string,
): Promise<{ cleared: boolean; others: boolean }> {
  const cleared = await clearAlerts(tx, channel, date)
  return { cleared, others: (await alerted(tx, channel)) !== undefined }
}

/** The paid payments or succeeded refunds of a channel with these numbers, which have 32 hex digits. */
export async function findMatches(
  reads: Reads,
  type: Side,
  channel: string,
  numbers: readonly string[],
): Promise<readonly MatchRow[]> {
  return numbers.length === 0 ? [] : reads.run(MATCHES[type], [channel, JSON.stringify(numbers)])
}

/** The payments or refunds of a channel with these numbers, at most {@link LARGEST_BATCH}, by number. */
export async function findOwnRows(
  reads: Reads,
  type: Side,
  channel: string,
  numbers: readonly string[],
): Promise<Map<string, FoundRow>> {
  if (numbers.length === 0) return new Map()
  const places = Object.fromEntries(PLACES.map((place, index) => [place, numbers[index] ?? '']))
  const found = new Map<string, FoundRow>()
  for (const row of await BY_NUMBER[type](reads, channel, places))
    if (row.isOfChannel === 1) found.set(row.number, row)
  return found
}

export interface Day {
  readonly channel: string
  readonly from: number
  readonly to: number
}

const POSITIONS = 2_000

/** Where the payments and refunds of ours on a day are, in batches. */
export async function* ownPositionsOf(
  reads: Reads,
  day: Day,
): AsyncIterable<{ readonly type: Side; readonly positions: readonly OwnPosition[] }> {
  for (const [type, query] of [
    ['payment', paidOn],
    ['refund', refundedOn],
  ] as const) {
    let position: OwnPosition = { at: day.from - 1, seq: 0 }
    for (;;) {
      // The index is searched from there: a database reads all rows of the day before a position that it only compares.
      const from = Math.max(day.from, position.at)
      const positions = await query(reads, { ...day, ...position, from, limit: POSITIONS })
      if (positions.length > 0) yield { type, positions }
      const last = positions.at(-1)
      if (!last || positions.length < POSITIONS) break
      position = last
    }
  }
}

/** The succeeded rows of ours with these numbers in their tables, with their times. */
export async function readOwnRows(
  queries: Queries,
  type: Side,
  seqs: readonly number[],
): Promise<(OwnRow & OwnTimes)[]> {
  if (seqs.length === 0) return []
  const on = db(queries)
  const rows =
    type === 'payment'
      ? await on
          .selectFrom('payments')
          .select(['seq', 'number', 'id as paymentId', 'status', paidCents.as('cents')])
          .select([sql<number>`paid_at`.as('beganAt'), sql<number>`paid_at`.as('at')])
          .where('seq', 'in', seqs)
          .orderBy('seq')
          .execute()
      : await on
          .selectFrom('payment_refunds')
          .select(['seq', 'number', 'payment_id as paymentId', 'status', 'amount_cents as cents'])
          .select(['created_at as beganAt', sql<number>`finished_at`.as('at')])
          .where('seq', 'in', seqs)
          .where('status', '=', sql.lit('succeeded'))
          .orderBy('seq')
          .execute()
  return rows.map((row) => ({ type, ...row }))
}

export async function insertDifferences(
  tx: Tx,
  id: string,
  differences: readonly Difference[],
): Promise<void> {
  if (differences.length === 0) return
  const rows = differences.map((difference) =>
    paymentDifferences.values({ ...difference, reconciliationId: id }),
  )
  await db(tx).insertInto('payment_differences').values(rows).execute()
}

export const deleteDifferences = changeRows((on, id: string) =>
  on.deleteFrom('payment_differences').where('reconciliation_id', '=', id),
)

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

/** Lists differences in the order in which they were found. */
export function listDifferences(
  reads: Reads,
  filter: DifferenceFilter,
  page: PageRequest & { readonly order: PageOrder<'seq'> },
): Promise<Page<Difference>> {
  return readDifferences(reads, filter, page)
}
