import { sql } from 'kysely'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import { statement, type Builder, type QueryOf } from '../../../store/statement.ts'
import type { Queries, Reads, Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import {
  paymentDifferences,
  paymentReconciliations,
  changeRow,
  changeRows,
  db,
  pages,
  readRow,
} from '../tables.ts'
import type { Difference, DifferenceKind, LocalRow, LocalTimes, RowType } from './model.ts'

export type ReconciliationRow = RowOf<typeof paymentReconciliations>

export const reconciliationQueue = new WorkQueue('payment_reconciliations', paymentReconciliations)

/** `false` when another one of the channel is running. */
export const insertReconciliation = changeRow((on, row: NewRowOf<typeof paymentReconciliations>) =>
  on
    .insertInto('payment_reconciliations')
    .values(paymentReconciliations.values(row))
    .onConflict((conflict) => conflict.doNothing()),
)

export const findReconciliation = readRow(
  (on, id: string) =>
    on.selectFrom('payment_reconciliations').select(paymentReconciliations.all).where('id', '=', id),
  paymentReconciliations.decode,
)

export const findNewestOfDay = readRow(
  (on, channel: string, date: string) =>
    on
      .selectFrom('payment_reconciliations')
      .select(paymentReconciliations.all)
      .where('channel', '=', channel)
      .where('date', '=', date)
      .orderBy('seq', 'desc')
      .limit(1),
  paymentReconciliations.decode,
)

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

/** Records that the alerts of a day are over; `false` when there was none. */
export const clearDayAlerts = changeRow((on, channel: string, date: string) =>
  on
    .updateTable('payment_reconciliations')
    .set({ is_alerted: 0 })
    .where('channel', '=', channel)
    .where('date', '=', date)
    .where('is_alerted', '=', 1),
)

/** One of the days of a channel that have alerts. */
export const findAlerted = readRow((on, channel: string) =>
  on
    .selectFrom('payment_reconciliations')
    .select('id')
    .where('channel', '=', channel)
    .where('is_alerted', '=', 1)
    .limit(1),
)

/** The SQL of the payments and refunds for what a bill has of them. */
const LOCAL_COLUMNS = {
  payment: {
    table: 'payments',
    paymentId: 'id',
    cents: 'coalesce(paid_cents, amount_cents)',
    beganAt: 'paid_at',
    at: 'paid_at',
    hasSucceeded: 'paid_at is not null',
  },
  refund: {
    table: 'payment_refunds',
    paymentId: 'payment_id',
    cents: 'amount_cents',
    beganAt: 'created_at',
    at: 'finished_at',
    hasSucceeded: "status = 'succeeded'",
  },
} as const

type LocalColumns = (typeof LOCAL_COLUMNS)[RowType]

function ofEachType<T>(build: (local: LocalColumns) => T): Readonly<Record<RowType, T>> {
  return { payment: build(LOCAL_COLUMNS.payment), refund: build(LOCAL_COLUMNS.refund) }
}

function localRowColumns({ table, paymentId, cents }: LocalColumns) {
  return [
    'seq',
    `${table}.number`,
    `${paymentId} as paymentId`,
    'status',
    sql.raw<number>(cents).as('cents'),
  ] as const
}

/**
 * Selects from the rows of a channel with these numbers, a JSON array: a parameter for each of a million numbers takes longer
 * than to find the rows. The channel is an expression, because a database that takes it for the rarer condition would read all
 * rows of the channel.
 */
function withNumbers({ db: on, capabilities }: Builder, table: string, channel: string, numbers: string) {
  return on
    .selectFrom(capabilities.textsOf(numbers).as('wanted'))
    .crossJoin(table)
    .where(sql<boolean>`${sql.ref(`${table}.number`)} = wanted.value`)
    .where(sql<boolean>`coalesce(channel, '') = ${channel}`)
}

/** A local row that was paid or refunded, and the place of its number among the requested ones. */
export interface MatchRow {
  readonly seq: number
  readonly place: number
  readonly cents: number
}

// Integers alone: all but a few rows of a day are in the books.
const MATCHES = ofEachType(({ table, cents, hasSucceeded }) =>
  statement((builder, channel: string, numbers: string): QueryOf<MatchRow> =>
    withNumbers(builder, table, channel, numbers)
      .select(['seq', 'wanted.place', sql.raw<number>(cents).as('cents')])
      .where(sql.raw<boolean>(hasSucceeded)),
  ),
)

/** The paid payments or succeeded refunds of a channel with these numbers, which have 32 hex digits. */
export function findMatches(
  reads: Reads,
  type: RowType,
  channel: string,
  numbers: readonly string[],
): Promise<MatchRow[]> {
  return reads.run(MATCHES[type], [channel, JSON.stringify(numbers)])
}

type FoundRow = Omit<LocalRow, 'type'>

const BY_NUMBER = ofEachType((local) =>
  statement((builder, channel: string, numbers: string): QueryOf<FoundRow> =>
    withNumbers(builder, local.table, channel, numbers).select(localRowColumns(local)),
  ),
)

/** The payments or refunds of a channel with these numbers, by number. */
export async function findLocalRows(
  reads: Reads,
  type: RowType,
  channel: string,
  numbers: readonly string[],
): Promise<Map<string, FoundRow>> {
  const rows = await reads.run(BY_NUMBER[type], [channel, JSON.stringify(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

interface ChannelDay {
  readonly channel: string
  readonly from: number
  readonly to: number
}

/** A local row of a day: its number in its table, and when it happened. */
interface LocalPosition {
  readonly seq: number
  readonly at: number
}

// The statement reads the index alone: a day may have a million payments, and all but a few are in the books.
const POSITIONS = ofEachType(({ table, at, hasSucceeded }) =>
  statement(
    (
      { db: on },
      { channel, from, to }: ChannelDay,
      after: LocalPosition,
      limit: number,
    ): QueryOf<LocalPosition> =>
      on
        .selectFrom(table)
        .select([`${at} as at`, 'seq'])
        .where('channel', '=', channel)
        .where(at, '>=', from)
        .where(at, '<', to)
        .where(sql<boolean>`(${sql.ref(at)}, seq) > (${after.at}, ${after.seq})`)
        .where(sql.raw<boolean>(hasSucceeded))
        .orderBy(at)
        .orderBy('seq')
        .limit(limit),
  ),
)

const POSITIONS_READ = 2_000

/** Where the local payments and refunds of a day are, in batches. */
export async function* localPositionsOf(
  reads: Reads,
  day: ChannelDay,
): AsyncIterable<{ readonly type: RowType; readonly positions: readonly LocalPosition[] }> {
  for (const type of ['payment', 'refund'] as const) {
    let last: LocalPosition | undefined = { at: day.from - 1, seq: 0 }
    while (last) {
      // The index is searched from there: a database reads all rows of the day before a position that it only compares.
      const rest = { ...day, from: Math.max(day.from, last.at) }
      const positions: LocalPosition[] = await reads.run(POSITIONS[type], [rest, last, POSITIONS_READ])
      if (positions.length > 0) yield { type, positions }
      last = positions.length < POSITIONS_READ ? undefined : positions.at(-1)
    }
  }
}

/** The succeeded local rows with these numbers in their tables, with their times. */
export async function readLocalRows(
  { db: on }: Queries,
  type: RowType,
  seqs: readonly number[],
): Promise<(LocalRow & LocalTimes)[]> {
  if (seqs.length === 0) return []
  const local = LOCAL_COLUMNS[type]
  const rows: (FoundRow & LocalTimes)[] = await on
    .selectFrom(local.table)
    .select([...localRowColumns(local), `${local.beganAt} as beganAt`, `${local.at} as at`])
    .where('seq', 'in', seqs)
    .where(sql.raw<boolean>(local.hasSucceeded))
    .orderBy('seq')
    .execute()
  return rows.map((row) => ({ type, ...row }))
}

export async function insertDifferences(
  tx: Tx,
  reconciliationId: string,
  differences: readonly Difference[],
): Promise<void> {
  const rows = differences.map((difference) => paymentDifferences.values({ ...difference, reconciliationId }))
  await db(tx).insertInto('payment_differences').values(rows).execute()
}

export const deleteDifferences = changeRows((on, reconciliationId: string) =>
  on.deleteFrom('payment_differences').where('reconciliation_id', '=', reconciliationId),
)

/** Newest first. */
export const listReconciliations = pages(
  { table: 'payment_reconciliations', createdAt: 'created_at' },
  (on) => on.selectFrom('payment_reconciliations').select(paymentReconciliations.all),
  {},
)

/** Lists differences in the order in which they were found, with `OLDEST_FIRST`. */
export const listDifferences = pages(
  { table: 'payment_differences' },
  (on) => on.selectFrom('payment_differences').select(paymentDifferences.all),
  {
    reconciliationId: (query, id: string) => query.where('reconciliation_id', '=', id),
    kind: (query, kind: DifferenceKind) => query.where('kind', '=', kind),
  },
)
