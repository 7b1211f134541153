import type { Kysely } from 'kysely'
import { integer, text, type Column, type Columns, type Declaration, type RowOf } from './columns.ts'
import { lockRows } from './locking.ts'
import type { Claim, Lease, WorkItem } from './runner.ts'
import { statement, type Database, type Statement } from './statement.ts'
import type { Tx } from './store.ts'

/** The columns of a table whose rows a `Runner` works on; the table also has a text column `id`. */
export const WORK_COLUMNS = {
  /** When the row is due; while it is claimed, when the lease expires; null once the work is finished. */
  dueAt: integer().nullable(),
  leaseHolder: text().nullable(),
  attempts: integer(),
  queuedAt: integer(),
}

/** The values of those columns in a row that is due at once. */
export function queuedWork(now: number) {
  return { dueAt: now, leaseHolder: null, attempts: 0, queuedAt: now }
}

type WorkDeclaration = Declaration & typeof WORK_COLUMNS & { id: Column<string, string> }

/** The work columns of any table, under a name of its own. */
interface WorkTables {
  work: { id: string; due_at: number | null; lease_holder: string | null; attempts: number }
}

interface Change {
  readonly id: string
  readonly holder: string
  readonly dueAt: number | null
}

/**
 * The statements of a `Runner` for one table. Each is a compare-and-set, so two runners never hold the same row: a
 * claim takes due rows, which excludes the ones with a valid lease; a renewal and the end of a lease compare its holder.
 * The table needs an index on `due_at` of the rows where it is not null.
 */
export class WorkQueue<D extends WorkDeclaration> {
  readonly #columns: Columns<D>
  readonly #claim: Statement<Claim, RowOf<Columns<D>>>
  readonly #setDue: Statement<Change, never>
  readonly #endLease: Statement<Change, never>

  constructor(table: string, columns: Columns<D>) {
    this.#columns = columns
    this.#claim = claimStatement(table as 'work', columns.all) as Statement<Claim, RowOf<Columns<D>>>
    this.#setDue = changeStatement(table as 'work', {})
    this.#endLease = changeStatement(table as 'work', { lease_holder: null })
  }

  /** The longest due first, in any order. */
  async claim(tx: Tx, claim: Claim): Promise<RowOf<Columns<D>>[]> {
    const rows = await tx.run(this.#claim, claim)
    return rows.map((row) => this.#columns.decode(row as never) as RowOf<Columns<D>>)
  }

  /** `false` when another holder has the row, or it is finished. */
  async renew(tx: Tx, { id }: Pick<WorkItem, 'id'>, { holder, until }: Lease): Promise<boolean> {
    return (await tx.change(this.#setDue, { id, holder, dueAt: until })) === 1
  }

  /** Ends the lease; the row is due again at that time, or, with null, finished. `false` as for {@link renew}. */
  async release(
    tx: Tx,
    { id }: Pick<WorkItem, 'id'>,
    { holder, dueAt }: Pick<Change, 'holder' | 'dueAt'>,
  ): Promise<boolean> {
    return (await tx.change(this.#endLease, { id, holder, dueAt })) === 1
  }
}

const tablesOf = (db: Database): Kysely<WorkTables> => db

function claimStatement(table: 'work', selected: readonly string[]): Statement<Claim, object> {
  return statement<Claim, object>((db, value, capabilities) =>
    tablesOf(db)
      .with('claimable', (query) =>
        query
          .selectFrom(table)
          .select('id')
          .where('due_at', '<=', value('now'))
          .orderBy('due_at')
          .limit(value('limit'))
          .$call(lockRows(capabilities, { skipLocked: true })),
      )
      .updateTable(table)
      .set((row) => ({
        due_at: value('until'),
        lease_holder: value('holder'),
        attempts: row('attempts', '+', 1),
      }))
      .where('id', 'in', (query) => query.selectFrom('claimable').select('id'))
      .returning(selected as 'id'[]),
  )
}

function changeStatement(table: 'work', fixed: { readonly lease_holder?: null }): Statement<Change, never> {
  return statement<Change>((db, value) =>
    tablesOf(db)
      .updateTable(table)
      .set({ due_at: value('dueAt'), ...fixed })
      .where('id', '=', value('id'))
      .where('lease_holder', '=', value('holder')),
  )
}
