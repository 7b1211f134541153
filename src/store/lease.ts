import { hostname } from 'node:os'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { statement } from './statement.ts'
import { first, type Store } from './store.ts'

/** A thing that one process at a time does, on whatever database and however many hosts. */
export interface Lease {
  /**
   * Takes or prolongs the lease; answers whether this process holds it now. It lasts `ttlMs` from here. Writes only
   * when the lease is free or past a third of its time.
   */
  hold(): Promise<boolean>
  /** Lets the next one take it at once. */
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly store: Store
  readonly clock: Clock
  readonly name: string
  /** How long others wait for a holder who has gone silent, in milliseconds. */
  readonly ttlMs: number
}

interface Parameters {
  name: string
  holder: string
  now: number
  expires: number
}

const take = statement<Parameters, { holder: string }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: value('expires') })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder: value('holder'), expires_at: value('expires') })
        .where((row) =>
          row.or([row('leases.expires_at', '<=', value('now')), row('leases.holder', '=', value('holder'))]),
        ),
    )
    .returning('holder'),
)

const read = statement<{ name: string }, { holder: string; expires_at: number }>((db, value) =>
  db.selectFrom('leases').select(['holder', 'expires_at']).where('name', '=', value('name')),
)

const drop = statement<{ name: string; holder: string }>((db, value) =>
  db.deleteFrom('leases').where('name', '=', value('name')).where('holder', '=', value('holder')),
)

export function createLease({ store, clock, name, ttlMs }: LeaseOptions): Lease {
  const holder = `${hostname()}/${process.pid}/${newId()}`
  // Judged by the clock that never steps back: the process itself must not believe in a lease that others took.
  let renewAt = Number.NEGATIVE_INFINITY

  const isFree = async () => {
    const row = await first(store.read, read, { name })
    if (!row || row.holder === holder || row.expires_at <= clock.now()) return true
    if (!isGone(row.holder)) return false
    await store.write((tx) => tx.run(drop, { name, holder: row.holder }))
    return true
  }

  return {
    async hold() {
      if (clock.monotonic() < renewAt) return true
      renewAt = Number.NEGATIVE_INFINITY
      if (!(await isFree())) return false
      const start = clock.monotonic()
      const now = clock.now()
      const taken = await store.write((tx) => tx.run(take, { name, holder, now, expires: now + ttlMs }))
      if (taken.length > 0) renewAt = start + ttlMs / 3
      return taken.length > 0
    },
    async release() {
      renewAt = Number.NEGATIVE_INFINITY
      await store.write((tx) => tx.run(drop, { name, holder }))
    },
  }
}

/** A holder on this host whose process has ended will not come back; its lease need not be waited for. */
function isGone(holder: string): boolean {
  const [host, processId] = holder.split('/')
  if (host !== hostname() || !Number(processId)) return false
  if (Number(processId) === process.pid) return false
  try {
    process.kill(Number(processId), 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
