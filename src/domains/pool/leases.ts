import type { Clock } from '../../kernel/clock.ts'
import { requireFound } from '../../kernel/errors.ts'
import { touchedRow } from '../../store/locking.ts'
import type { TouchedRow, Tx } from '../../store/store.ts'
import type { AddressRange } from './addresses.ts'
import type { LeaseHolder } from './model.ts'
import { advanceNext, findPool } from './store.ts'
import { db, leases, readRow, changeRows } from './tables.ts'

/** How long a released address is reserved for its last holder. */
export interface CoolDown {
  readonly clock: Clock
  readonly ms: number
}

// Waits for a transaction that holds the lease: it may be releasing the address that the device had.
const findLastOfDevice = readRow((on, userId: string, device: string, lowest: number, highest: number) =>
  on
    .selectFrom('vpn_leases')
    .select('address')
    .where('user_id', '=', userId)
    .where('device', '=', device)
    .where('session_id', 'is', null)
    .where('address', '>=', lowest)
    .where('address', '<=', highest)
    .orderBy('released_at', 'desc')
    .limit(1)
    .forUpdate(),
)

interface NewHolder {
  readonly sessionId: string
  readonly userId: string | null
  readonly device: string | null
}

interface FreeSince {
  readonly pool: string
  readonly from: number
  readonly until: number
}

const take = changeRows((on, address: number, holder: NewHolder) =>
  on
    .updateTable('vpn_leases')
    .set(leases.set(holder, 'sessionId', 'userId', 'device'))
    .where('address', '=', address),
)

const searchLongestFree = (on: ReturnType<typeof db>, { pool, from, until }: FreeSince) =>
  on
    .selectFrom('vpn_leases')
    .where('pool', '=', pool)
    .where('session_id', 'is', null)
    .where('released_at', '>=', from)
    .where('released_at', '<=', until)
    .orderBy('released_at')
    .orderBy('address')
    .limit(1)
    .forUpdate()
    .skipLocked()

const findLongestFree = readRow((on, freeSince: FreeSince) =>
  searchLongestFree(on, freeSince).select(leases.pick('address', 'releasedAt')),
)

// One statement finds and takes the address: writes that share a transaction do not skip rows that another one has only
// locked.
const takeLongestFree = readRow((on, lease: NewHolder & FreeSince) =>
  on
    .updateTable('vpn_leases')
    .set(leases.set(lease, 'sessionId', 'userId', 'device'))
    .where('address', '=', searchLongestFree(on, lease).select('address'))
    .returning('address'),
)

const NEVER = 0
// Several addresses are added at a time, so that concurrent transactions find one each.
const LEASES_ADDED = 64

/** The rows that the search for the last address of a device touches. */
export function deviceRows(userId: string, device: string): TouchedRow {
  return touchedRow('vpn_leases', userId, device)
}

/**
 * Leases the address that the same device had last, if it is free; else one that was never leased; else the one that
 * was released first, once its cool-down is over. Undefined when no address is free.
 */
export async function leaseAddress(
  tx: Tx,
  range: AddressRange,
  { sessionId, userId, device }: LeaseHolder,
  coolDown: CoolDown,
): Promise<number | undefined> {
  const holder = { sessionId, userId: device === null ? null : userId, device }
  const last =
    device === null ? undefined : await findLastOfDevice(tx, userId, device, range.first, range.last)
  if (!last) return takeFree(tx, range, holder, coolDown)
  await take(tx, last.address, holder)
  return last.address
}

/** Releases the address if that session holds it. */
export const releaseAddress = changeRows((on, address: number, sessionId: string, at: number) =>
  on
    .updateTable('vpn_leases')
    .set({ session_id: null, released_at: at })
    .where('address', '=', address)
    .where('session_id', '=', sessionId),
)

/** A release later than one cool-down from now was written before the clock was set back. */
export function coolDownLimits({ clock, ms }: CoolDown) {
  const now = clock.now()
  return { cooledSince: now - ms, plausibleUntil: now + ms }
}

async function takeFree(
  tx: Tx,
  range: AddressRange,
  holder: NewHolder,
  coolDown: CoolDown,
): Promise<number | undefined> {
  const pool = range.cidr
  do {
    const free = await takeLongestFree(tx, { ...holder, pool, from: NEVER, until: NEVER })
    if (free) return free.address
  } while (await addLeases(tx, range))
  const { cooledSince } = coolDownLimits(coolDown)
  const free = await takeLongestFree(tx, { ...holder, pool, from: NEVER, until: cooledSince })
  return free ? free.address : takeImplausible(tx, range, holder, coolDown)
}

/** Takes a lease that was released before the clock was set back. */
async function takeImplausible(
  tx: Tx,
  { cidr }: AddressRange,
  holder: NewHolder,
  coolDown: CoolDown,
): Promise<number | undefined> {
  const from = coolDownLimits(coolDown).plausibleUntil + 1
  const free = await findLongestFree(tx, { pool: cidr, from, until: Number.MAX_SAFE_INTEGER })
  // A process may have stopped for longer than the cool-down since it read the clock: another session could have
  // released the lease meanwhile. The row is locked now, so a second look at the clock is certain.
  if (!free || free.releasedAt <= coolDownLimits(coolDown).plausibleUntil) return undefined
  await take(tx, free.address, holder)
  return free.address
}

/** Adds leases for the next addresses; `false` when every address of the range has one. */
async function addLeases(tx: Tx, { cidr, last }: AddressRange): Promise<boolean> {
  const { nextAddress: next } = requireFound(await findPool(tx, cidr), 'pool', cidr)
  if (next > last) return false
  const count = Math.min(LEASES_ADDED, last + 1 - next)
  // If another transaction has added them, they are visible now.
  if (!(await advanceNext(tx, cidr, next, next + count))) return true
  const unused = { pool: cidr, session_id: null, user_id: null, device: null, released_at: NEVER }
  const added = Array.from({ length: count }, (_, index) => ({ ...unused, address: next + index }))
  await db(tx)
    .insertInto('vpn_leases')
    .values(added)
    .onConflict((conflict) => conflict.column('address').doNothing())
    .execute()
  return true
}
