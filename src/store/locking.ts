import type { SelectQueryBuilder } from 'kysely'
import type { Capabilities } from './dialects/capabilities.ts'
import type { TouchedRow, Tx } from './store.ts'

export interface LockOptions {
  /** Leaves out rows that another transaction has locked, instead of waiting for them. */
  readonly skipLocked?: boolean
  /** Keeps the rows from being changed, while other transactions may lock them so too. */
  readonly share?: boolean
}

/**
 * Locks the rows that a query reads until the end of the transaction, on an engine with concurrent writers; an engine
 * with one writer needs no lock. For `$call`: `query.$call(lockRows(capabilities, { skipLocked: true }))`.
 */
export function lockRows(
  { concurrentWriters }: Capabilities,
  { skipLocked = false, share = false }: LockOptions = {},
) {
  return <DB, TB extends keyof DB, O>(
    query: SelectQueryBuilder<DB, TB, O>,
  ): SelectQueryBuilder<DB, TB, O> => {
    if (!concurrentWriters) return query
    const locked = share ? query.forShare() : query.forUpdate()
    return skipLocked ? locked.skipLocked() : locked
  }
}

/** For {@link WriteOptions.touches}. */
export function touchedRow(table: string, ...key: readonly string[]): TouchedRow {
  return { table, key }
}

/** For the name that {@link lockName} locks. */
export function touchedLock(name: string): TouchedRow {
  return touchedRow('', name)
}

/** One text for each row. */
export function touchedName({ table, key }: TouchedRow): string {
  return JSON.stringify([table, ...key])
}

/**
 * Lets transactions that lock the same name run one after the other, where no row stands for it yet. The next query
 * sees what the transactions before it have committed.
 */
export async function lockName({ db, capabilities }: Tx, name: string): Promise<void> {
  await capabilities.lockName?.(name).execute(db)
}
