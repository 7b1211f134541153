import type { Clock } from '../../kernel/clock.ts'
import { isDeadHolder, newHolder } from './holder.ts'
import { changeRow, changeRows, readRow } from '../tables.ts'
import type { Store } from '../store.ts'

/** A task that one process at a time carries out, on any database and any number of hosts. */
export interface Lease {
  /**
   * Takes or renews the lease; answers whether this process holds it now. It lasts at least two thirds of `ttlMs` from
   * now. Writes only when the lease is free or past a third of its time.
   */
  hold(): Promise<boolean>
  /** Lets another process take it at once. */
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly store: Store
  readonly clock: Clock
  readonly name: string
  /** How long other processes wait for a holder that does not renew, in milliseconds. */
  readonly ttlMs: number
}

const take = readRow((db, name: string, holder: string, now: number, expires: number) =>
  db
    .insertInto('leases')
    .values({ name, holder, expires_at: expires })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, expires_at: expires })
        .where((row) => row.or([row('leases.expires_at', '<=', now), row('leases.holder', '=', holder)])),
    )
    .returning('holder'),
)

interface Row {
  readonly holder: string
  readonly expires_at: number
}

const read = readRow((db, name: string) =>
  db.selectFrom('leases').select(['holder', 'expires_at']).where('name', '=', name),
)

const remove = changeRows((db, name: string, holder: string) =>
  db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder),
)

// The expiry is compared too: a holder that renews its lease between the look and the removal keeps it.
const removeUnchanged = changeRow((db, name: string, row: Row) =>
  db
    .deleteFrom('leases')
    .where('name', '=', name)
    .where('holder', '=', row.holder)
    .where('expires_at', '=', row.expires_at),
)

export function createLease({ store, clock, name, ttlMs }: LeaseOptions): Lease {
  const holder = newHolder()
  // By the monotonic clock: a wall clock that is set back must not prolong a lease that others see as expired.
  let renewAt = Number.NEGATIVE_INFINITY
  let lastSeen = { row: '', at: 0 }

  /** A live holder renews its lease: one whose row stays the same is gone, however far ahead its clock was. */
  const isStale = ({ holder: by, expires_at }: Row) => {
    const row = `${by} ${expires_at}`
    if (lastSeen.row !== row) lastSeen = { row, at: clock.monotonic() }
    return clock.monotonic() - lastSeen.at >= ttlMs
  }

  const isFree = async () => {
    const row = await read(store.read, name)
    if (!row || row.holder === holder || row.expires_at <= clock.now()) return true
    // A holder whose process has ended never renews, so there is no need to wait for the expiry.
    if (!isStale(row) && !isDeadHolder(row.holder)) return false
    return store.write((tx) => removeUnchanged(tx, name, row))
  }

  return {
    async hold() {
      if (clock.monotonic() < renewAt) return true
      renewAt = Number.NEGATIVE_INFINITY
      if (!(await isFree())) return false
      const start = clock.monotonic()
      const now = clock.now()
      const taken = await store.write((tx) => take(tx, name, holder, now, now + ttlMs))
      if (taken) renewAt = start + ttlMs / 3
      return taken !== undefined
    },
    async release() {
      renewAt = Number.NEGATIVE_INFINITY
      await store.write((tx) => remove(tx, name, holder))
    },
  }
}
