import type { Queries, Tx } from '../../store/store.ts'
import type { AddressRange } from './addresses.ts'
import type { AlertPercent } from './model.ts'
import { changeRow, db, readRow, readRows } from './tables.ts'

/** Adds the pool if it is new, and takes over its addresses from other pools. */
export async function openPool(tx: Tx, { cidr, first: lowest, last: highest }: AddressRange): Promise<void> {
  await db(tx)
    .insertInto('vpn_pools')
    .values({ cidr, next_address: lowest, alerted_percent: 0 })
    .onConflict((conflict) => conflict.column('cidr').doNothing())
    .execute()
  const others = await db(tx).selectFrom('vpn_pools').select('cidr').where('cidr', '!=', cidr).execute()
  // The search, in perhaps a million rows, is needed only if there is another pool.
  if (others.length === 0) return
  await db(tx)
    .updateTable('vpn_leases')
    .set({ pool: cidr })
    .where('address', '>=', lowest)
    .where('address', '<=', highest)
    .where('pool', '!=', cidr)
    .execute()
}

const countInRange = readRow((on, lowest: number, highest: number) =>
  on
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('session_id', 'is not', null)
    .where('address', '>=', lowest)
    .where('address', '<=', highest),
)

/** How many addresses live sessions hold. */
export async function countUsed(queries: Queries, { first, last }: AddressRange): Promise<number> {
  return (await countInRange(queries, first, last))?.leases ?? 0
}

const countInPool = readRow((on, cidr: string) =>
  on
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('session_id', 'is not', null)
    .where('pool', '=', cidr),
)

/** How many addresses live sessions hold that are counted for that pool. */
export async function countLeased(queries: Queries, cidr: string): Promise<number> {
  return (await countInPool(queries, cidr))?.leases ?? 0
}

const countReleased = readRow((on, cidr: string, since: number, until: number) =>
  on
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('pool', '=', cidr)
    .where('session_id', 'is', null)
    .where('released_at', '>', since)
    .where('released_at', '<=', until),
)

/** How many free addresses were released after `since` and not after `until`. */
export async function countCooling(queries: Queries, cidr: string, since: number, until: number) {
  return (await countReleased(queries, cidr, since, until))?.leases ?? 0
}

/** The pool with the lowest address that never had a lease, and the threshold of its alert. */
export const findPool = readRow((on, cidr: string) =>
  on
    .selectFrom('vpn_pools')
    .select(['next_address as nextAddress', 'alerted_percent as alertedPercent'])
    .where('cidr', '=', cidr),
)

/** Compare-and-set; waits for another transaction that does the same. */
export const advanceNext = changeRow((on, cidr: string, from: number, to: number) =>
  on
    .updateTable('vpn_pools')
    .set({ next_address: to })
    .where('cidr', '=', cidr)
    .where('next_address', '=', from),
)

/** The pools that an alert is raised for. */
export const listAlerted = readRows((on) =>
  on.selectFrom('vpn_pools').select('cidr').where('alerted_percent', '>', 0),
)

/** Compare-and-set: `false` when another process has changed the alert meanwhile. */
export const changeAlert = changeRow((on, cidr: string, from: AlertPercent, to: AlertPercent) =>
  on
    .updateTable('vpn_pools')
    .set({ alerted_percent: to })
    .where('cidr', '=', cidr)
    .where('alerted_percent', '=', from),
)
