import type { Queries, Tx } from '../../store/store.ts'
import type { AddressRange } from './addresses.ts'
import type { AlertPercent } from './model.ts'
import { db, readRow } from './tables.ts'

const countHeld = readRow((on, lowest: number, highest: number) =>
  on
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('session_id', 'is not', null)
    .where('address', '>=', lowest)
    .where('address', '<=', highest),
)

const countReleased = readRow((on, cidr: string, since: number, until: number) =>
  on
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('pool', '=', cidr)
    .where('session_id', 'is', null)
    .where('released_at', '>', since)
    .where('released_at', '<=', until),
)

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

/** How many addresses live sessions hold. */
export async function countUsed(
  queries: Queries,
  { first: lowest, last: highest }: AddressRange,
): Promise<number> {
  return (await countHeld(queries, lowest, highest))?.leases ?? 0
}

/** How many free addresses were released after `since` and not after `until`. */
export async function countCooling(
  queries: Queries,
  cidr: string,
  since: number,
  until: number,
): Promise<number> {
  return (await countReleased(queries, cidr, since, until))?.leases ?? 0
}

/** The lowest address that never had a lease. */
export async function readNext(queries: Queries, cidr: string): Promise<number> {
  const { next_address } = await db(queries)
    .selectFrom('vpn_pools')
    .select('next_address')
    .where('cidr', '=', cidr)
    .executeTakeFirstOrThrow()
  return next_address
}

/** Compare-and-set; waits for another transaction that does the same. */
export async function advanceNext(tx: Tx, cidr: string, from: number, to: number): Promise<boolean> {
  const { numUpdatedRows } = await db(tx)
    .updateTable('vpn_pools')
    .set({ next_address: to })
    .where('cidr', '=', cidr)
    .where('next_address', '=', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** How many addresses live sessions hold that are counted for that pool. */
export async function countLeased(queries: Queries, cidr: string): Promise<number> {
  const { leases } = await db(queries)
    .selectFrom('vpn_leases')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('session_id', 'is not', null)
    .where('pool', '=', cidr)
    .executeTakeFirstOrThrow()
  return Number(leases)
}

/** The pools that an alert is raised for. */
export async function listAlerted(queries: Queries): Promise<string[]> {
  const rows = await db(queries)
    .selectFrom('vpn_pools')
    .select('cidr')
    .where('alerted_percent', '>', 0)
    .execute()
  return rows.map(({ cidr }) => cidr)
}

/** The threshold of the alert; undefined until a gateway has opened the pool. */
export async function readAlert(queries: Queries, cidr: string): Promise<AlertPercent | undefined> {
  const row = await db(queries)
    .selectFrom('vpn_pools')
    .select('alerted_percent')
    .where('cidr', '=', cidr)
    .executeTakeFirst()
  return row?.alerted_percent
}

/** Compare-and-set: `false` when another process has changed the alert meanwhile. */
export async function changeAlert(
  tx: Tx,
  cidr: string,
  from: AlertPercent,
  to: AlertPercent,
): Promise<boolean> {
  const { numUpdatedRows } = await db(tx)
    .updateTable('vpn_pools')
    .set({ alerted_percent: to })
    .where('cidr', '=', cidr)
    .where('alerted_percent', '=', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
