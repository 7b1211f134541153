// The queries of the address pool, apart from those of the sessions.
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Statement } from '../../store/statement.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { AddressPool } from './addresses.ts'
import type { AlertedPercent, PoolUsage } from './model.ts'
import { dbOf, statement, type VpnTables, type VpnLeasesTable } from './tables.ts'

/** For whom an address is. Without a device nothing is remembered. */
export interface Holder {
  readonly sessionId: string
  readonly userId: string
  readonly device: string | null
}

/** How long a released address is kept from others. */
export interface CoolDown {
  /** Epoch milliseconds. */
  readonly now: number
  readonly ms: number
}

type Free = Pick<VpnLeasesTable, 'address' | 'released_at'>

/** A query for a free lease, and the same for an engine on which other transactions may be taking it. */
interface FreeQuery<P> {
  readonly plain: Statement<P, Free>
  readonly locking: Statement<P, Free>
}

type SelectFree = SelectQueryBuilder<VpnTables, 'vpn_leases', Free>

type BuildFree<P> = (
  db: Kysely<VpnTables>,
  value: <K extends keyof P & string>(name: K) => P[K],
) => SelectFree

const freeQuery = <P extends object>(
  build: BuildFree<P>,
  lock: (query: SelectFree) => SelectFree,
): FreeQuery<P> => ({
  plain: statement(build),
  locking: statement((db, value) => lock(build(db, value))),
})

interface Formerly {
  user_id: string
  device: string
  lowest: number
  highest: number
}

const formerly = freeQuery<Formerly>(
  (db, value) =>
    db
      .selectFrom('vpn_leases')
      .select(['address', 'released_at'])
      .where('user_id', '=', value('user_id'))
      .where('device', '=', value('device'))
      .where('session_id', 'is', null)
      .where('address', '>=', value('lowest'))
      .where('address', '<=', value('highest'))
      .orderBy('released_at', 'desc')
      .limit(1),
  // Whoever holds it may leave it after all: a device does not lose its address to that.
  (query) => query.forUpdate(),
)

const longestFree = freeQuery<{ pool: string; from: number; until: number }>(
  (db, value) =>
    db
      .selectFrom('vpn_leases')
      .select(['address', 'released_at'])
      .where('pool', '=', value('pool'))
      .where('session_id', 'is', null)
      .where('released_at', '>=', value('from'))
      .where('released_at', '<=', value('until'))
      .orderBy('released_at')
      .orderBy('address')
      .limit(1),
  (query) => query.forUpdate().skipLocked(),
)

const take = statement<{
  address: number
  session_id: string
  user_id: string | null
  device: string | null
}>((db, value) =>
  db
    .updateTable('vpn_leases')
    .set({ session_id: value('session_id'), user_id: value('user_id'), device: value('device') })
    .where('address', '=', value('address')),
)

const release = statement<{ address: number; session_id: string; at: number }>((db, value) =>
  db
    .updateTable('vpn_leases')
    .set({ session_id: null, released_at: value('at') })
    .where('address', '=', value('address'))
    .where('session_id', '=', value('session_id')),
)

const countHeld = statement<{ lowest: number; highest: number }, { leases: number }>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('leases'))
    .where('closed_at', 'is', null)
    .where('address', '>=', value('lowest'))
    .where('address', '<=', value('highest')),
)

const countReleased = statement<{ pool: string; since: number; until: number }, { leases: number }>(
  (db, value) =>
    db
      .selectFrom('vpn_leases')
      .select((row) => row.fn.countAll<number>().as('leases'))
      .where('pool', '=', value('pool'))
      .where('session_id', 'is', null)
      .where('released_at', '>', value('since'))
      .where('released_at', '<=', value('until')),
)

/** Makes a pool known, and takes over the addresses of it that another pool has had before. */
export async function openPool(tx: Tx, pool: AddressPool): Promise<void> {
  await dbOf(tx)
    .insertInto('vpn_pools')
    .values({ cidr: pool.cidr, next_address: pool.first, alerted_percent: 0 })
    .onConflict((conflict) => conflict.column('cidr').doNothing())
    .execute()
  const others = await dbOf(tx)
    .selectFrom('vpn_pools')
    .select('cidr')
    .where('cidr', '!=', pool.cidr)
    .execute()
  // Without others there is nothing to look for among what may be a million rows.
  if (others.length === 0) return
  await dbOf(tx)
    .updateTable('vpn_leases')
    .set({ pool: pool.cidr })
    .where('address', '>=', pool.first)
    .where('address', '<=', pool.last)
    .where('pool', '!=', pool.cidr)
    .execute()
}

/**
 * Leases an address of the pool: the one that the same device had last, if it is free, else one that nobody ever had,
 * else the one released longest ago, provided that it is cool. Undefined when there is none.
 */
export async function lease(
  tx: Tx,
  pool: AddressPool,
  { sessionId, userId, device }: Holder,
  coolDown: CoolDown,
): Promise<number | undefined> {
  const former = device === null ? undefined : await formerAddress(tx, pool, userId, device)
  const address = former ?? (await nextAddress(tx, pool, coolDown))
  if (address === undefined) return undefined
  const remembered = device === null ? { user_id: null, device } : { user_id: userId, device }
  await tx.change(take, { address, session_id: sessionId, ...remembered })
  return address
}

/** Whoever held the address gets it back at once, others only after its cool-down. */
export async function releaseLease(tx: Tx, address: number, sessionId: string, at: number): Promise<void> {
  await tx.change(release, { address, session_id: sessionId, at })
}

export async function readUsage(queries: Queries, pool: AddressPool, coolDown: CoolDown): Promise<PoolUsage> {
  const { cidr, size, first: lowest, last: highest } = pool
  const used = (await first(queries, countHeld, { lowest, highest }))?.leases ?? 0
  const { cooledSince: since, plausibleUntil: until } = limitsOf(coolDown)
  const cooling = (await first(queries, countReleased, { pool: cidr, since, until }))?.leases ?? 0
  // The two are read one after the other: an address released in between would count twice.
  return { cidr, size, used, cooling, free: Math.max(0, size - used - cooling) }
}

/** How full an alert says that the pool is; undefined as long as no gateway has opened it. */
export async function readAlerted(
  queries: Queries,
  { cidr }: AddressPool,
): Promise<AlertedPercent | undefined> {
  const row = await dbOf(queries)
    .selectFrom('vpn_pools')
    .select('alerted_percent')
    .where('cidr', '=', cidr)
    .executeTakeFirst()
  return row?.alerted_percent
}

/** Compare-and-set: answers `false` when another process has told of it meanwhile. */
export async function markAlerted(
  queries: Tx,
  { cidr }: AddressPool,
  from: AlertedPercent,
  to: AlertedPercent,
): Promise<boolean> {
  const { numUpdatedRows } = await dbOf(queries)
    .updateTable('vpn_pools')
    .set({ alerted_percent: to })
    .where('cidr', '=', cidr)
    .where('alerted_percent', '=', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

async function formerAddress(
  tx: Tx,
  { first: lowest, last: highest }: AddressPool,
  userId: string,
  device: string,
): Promise<number | undefined> {
  const found = await firstFree(tx, formerly, { user_id: userId, device, lowest, highest })
  return found?.address
}

async function nextAddress(tx: Tx, pool: AddressPool, coolDown: CoolDown): Promise<number | undefined> {
  const { cooledSince, plausibleUntil } = limitsOf(coolDown)
  const longestFreeIn = (from: number, until: number) =>
    firstFree(tx, longestFree, { pool: pool.cidr, from, until })
  for (let usedUp = false; ;) {
    const free = await longestFreeIn(NEVER, cooledSince)
    if (free?.released_at === NEVER) return free.address
    if (usedUp) return (free ?? (await longestFreeIn(plausibleUntil + 1, Number.MAX_SAFE_INTEGER)))?.address
    const next = await readNext(tx, pool)
    usedUp = next > pool.last
    if (!usedUp) await addLeases(tx, pool, next)
  }
}

/** What was released later than in a cool-down from now, was released before the clock was set back. */
function limitsOf({ now, ms }: CoolDown) {
  return { cooledSince: now - ms, plausibleUntil: now + ms }
}

async function firstFree<P extends object>(
  tx: Tx,
  { plain, locking }: FreeQuery<P>,
  parameters: P,
): Promise<Free | undefined> {
  return first(tx, tx.capabilities.concurrentWriters ? locking : plain, parameters)
}

const NEVER = 0
// So many at once, that transactions side by side find one each.
const LEASES_ADDED = 64

/** The lowest address that never had a lease. */
async function readNext(queries: Tx, { cidr }: AddressPool): Promise<number> {
  const { next_address } = await dbOf(queries)
    .selectFrom('vpn_pools')
    .select('next_address')
    .where('cidr', '=', cidr)
    .executeTakeFirstOrThrow()
  return next_address
}

/** Adds leases of the addresses from `next` on, unless another transaction is doing so: then it waits for that one. */
async function addLeases(queries: Tx, pool: AddressPool, next: number): Promise<void> {
  const count = Math.min(LEASES_ADDED, pool.last + 1 - next)
  const { numUpdatedRows } = await dbOf(queries)
    .updateTable('vpn_pools')
    .set({ next_address: next + count })
    .where('cidr', '=', pool.cidr)
    .where('next_address', '=', next)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  const leases = Array.from({ length: count }, (_, index) => newLease(pool, next + index))
  await dbOf(queries)
    .insertInto('vpn_leases')
    .values(leases)
    .onConflict((conflict) => conflict.column('address').doNothing())
    .execute()
}

function newLease({ cidr }: AddressPool, address: number): VpnLeasesTable {
  return { address, pool: cidr, session_id: null, user_id: null, device: null, released_at: NEVER }
}
