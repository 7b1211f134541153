import { sql, type Kysely } from 'kysely'
import { integer, text, type Column, type Columns, type Declaration, type RowOf } from '../columns.ts'
import { storedTrace } from '../../kernel/trace.ts'
import { isDeadHolder } from './holder.ts'
import type { WorkClaim, WorkLease, WorkItem } from './runner.ts'
import { statement, type Database, type Statement } from '../statement.ts'
import type { Tx } from '../store.ts'

/** The columns of a table whose rows a `Runner` works on; the table also has a text column `id`. */
export const WORK_COLUMNS = {
  /** When the row is due; while it is claimed, when the lease expires; null once the work is finished. */
  dueAt: integer().nullable(),
  leaseHolder: text().nullable(),
  attempts: integer(),
  queuedAt: integer(),
  trace: text().nullable(),
}
export const WORK_COLUMN_NAMES = Object.keys(WORK_COLUMNS) as (keyof typeof WORK_COLUMNS)[]

/** The values of those columns in a row that is due at once. */
export function queuedWork(now: number) {
  return { dueAt: now, leaseHolder: null, attempts: 0, queuedAt: now, trace: storedTrace() }
}

type WorkDeclaration = Declaration & typeof WORK_COLUMNS & { id: Column<string, string> }

/** The work columns of a table, under a fixed table name for the types. */
interface WorkTables {
  work: { id: string; due_at: number | null; lease_holder: string | null; attempts: number }
}

/** The rows of one runner, where each has its own: `column` is its name in the database. */
export interface ClaimFilter {
  readonly column: string
  readonly operator: 'in' | 'not in'
  /** At least one. */
  readonly values: readonly string[]
}

/** One attempt at an item. After a new claim of the item an earlier attempt of the same holder has no effect on it. */
type Attempt = Pick<WorkItem, 'id' | 'attempts'>

interface Change {
  readonly id: string
  readonly attempts: number
  readonly holder: string
  readonly dueAt: number | null
}

/**
 * The statements of a `Runner` for one table. Each is a compare-and-set, so two runners never hold the same row: a
 * claim takes due rows, which excludes the ones with a valid lease; a renewal and the end of a lease compare its holder and
 * the number of the attempt.
 * The table needs an index on `due_at` of the rows where it is not null.
 */
export class WorkQueue<D extends WorkDeclaration> {
  readonly #columns: Columns<D>
  readonly #table: 'work'
  readonly #setDue: Statement<[Change], never>
  readonly #endLease: Statement<[Change], never>

  constructor(table: string, columns: Columns<D>) {
    this.#columns = columns
    this.#table = table as 'work'
    this.#setDue = changeStatement(this.#table, {})
    this.#endLease = changeStatement(this.#table, { lease_holder: null })
  }

  /** Claims the rows that have been due longest, of those that the filter names, and returns them in any order. */
  async claim(tx: Tx, claim: WorkClaim, only?: ClaimFilter): Promise<RowOf<Columns<D>>[]> {
    const rows = await claimQuery(tx, this.#table, claim, only)
      .returning(this.#columns.all as 'id'[])
      .execute()
    return rows.map((row) => this.#columns.decode(row as never) as RowOf<Columns<D>>)
  }

  /** Makes the rows of holders whose processes have ended on this host due at `now`: nobody else renews their leases. */
  async expireDead(tx: Tx, now: number): Promise<void> {
    const work = tablesOf(tx.db)
    const held = await work
      .selectFrom(this.#table)
      .select('lease_holder')
      .distinct()
      .where('lease_holder', 'is not', null)
      .where('due_at', '>', now)
      .execute()
    const dead = held.flatMap(({ lease_holder: holder }) => (holder && isDeadHolder(holder) ? [holder] : []))
    if (dead.length === 0) return
    await work.updateTable(this.#table).set({ due_at: now }).where('lease_holder', 'in', dead).execute()
  }

  /** `false` when the row was claimed again, or is finished. */
  async renew(tx: Tx, { id, attempts }: Attempt, { holder, until }: WorkLease): Promise<boolean> {
    return (await tx.change(this.#setDue, [{ id, attempts, holder, dueAt: until }])) === 1
  }

  /** Ends the lease. The row is due again at `dueAt`; null means that it is finished. `false` as for {@link renew}. */
  async release(
    tx: Tx,
    { id, attempts }: Attempt,
    { holder, dueAt }: Pick<Change, 'holder' | 'dueAt'>,
  ): Promise<boolean> {
    return (await tx.change(this.#endLease, [{ id, attempts, holder, dueAt }])) === 1
  }
}

const tablesOf = (db: Database): Kysely<WorkTables> => db

function claimQuery(
  tx: Tx,
  table: 'work',
  { holder, now, until, longestPauseMs, limit, except }: WorkClaim,
  only: ClaimFilter | undefined,
) {
  return tablesOf(tx.db)
    .with('claimable', (query) =>
      query
        .selectFrom(table)
        .select('id')
        .where((row) => row.or([row('due_at', '<=', now), row('due_at', '>', now + longestPauseMs)]))
        .$if(only !== undefined, (due) =>
          due.where(sql<string>`${sql.ref(only?.column ?? '')}`, only?.operator ?? 'in', only?.values ?? []),
        )
        .$if(except.length > 0, (due) => due.where('id', 'not in', except))
        .orderBy('due_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable(table)
    .set((row) => ({ due_at: until, lease_holder: holder, attempts: row('attempts', '+', 1) }))
    .where('id', 'in', (query) => query.selectFrom('claimable').select('id'))
}

function changeStatement(table: 'work', fixed: { readonly lease_holder?: null }): Statement<[Change], never> {
  return statement<[Change]>(({ db }, change) =>
    tablesOf(db)
      .updateTable(table)
      .set({ due_at: change.dueAt, ...fixed })
      .where('id', '=', change.id)
      .where('lease_holder', '=', change.holder)
      .where('attempts', '=', change.attempts),
  )
}
