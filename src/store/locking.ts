import type { TouchedRow, Tx } from './store.ts'

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
