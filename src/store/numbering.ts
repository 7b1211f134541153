import type { Tx } from './store.ts'

// For a clock that is behind the numbers of the snapshot. A database gives out fewer numbers than this between a snapshot
// and its restoration, and 2^53 has room for thousands of such gaps.
const GAP = 100_000_000_000

/**
 * The number after which a restored table continues: `perMs` for each millisecond since 1970. A table that counts from 1,
 * or from such a number on, gives out fewer than `perMs` in a millisecond. So each number that was ever given out, in the
 * replaced database or in one before it, is lower. `newest`: the highest number in the snapshot.
 */
export function numberAfterRestore(newest: number, perMs: number, now: number): number {
  const number = now * perMs
  return number > newest ? number : newest + GAP
}

/** Continues the numbers of a `numberedAbove` table after this one. `insert` adds a row that has the number. */
export async function continueAfter(
  tx: Tx,
  table: string,
  number: number,
  insert: () => Promise<void>,
): Promise<void> {
  const { continueAfter: command } = tx.capabilities
  if (command) await command(table, number).execute(tx.db)
  else await insert()
}
