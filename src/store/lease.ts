import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { statement } from './tables.ts'
import { first, type Store } from './store.ts'

/** A thing that one process at a time does, on whatever database and however many hosts. */
export interface Lease {
  /**
   * Takes or prolongs the lease; answers whether this process holds it now. It lasts two thirds of `ttlMs` from here
   * at least. Writes only when the lease is free or past a third of its time.
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

interface Row {
  readonly holder: string
  readonly expires_at: number
}

const read = statement<{ name: string }, Row>((db, value) =>
  db.selectFrom('leases').select(['holder', 'expires_at']).where('name', '=', value('name')),
)

const drop = statement<{ name: string; holder: string }>((db, value) =>
  db.deleteFrom('leases').where('name', '=', value('name')).where('holder', '=', value('holder')),
)

export function createLease({ store, clock, name, ttlMs }: LeaseOptions): Lease {
  const holder = `${HERE}/${process.pid}/${newId()}`
  // Judged by the clock that never steps back: the process itself must not believe in a lease that others took.
  let renewAt = Number.NEGATIVE_INFINITY
  let lastSign = { text: '', at: 0 }

  /** A holder that lives renews its lease: one that does not is gone, however far ahead its clock was. */
  const isSilent = (row: Row) => {
    const text = `${row.holder} ${row.expires_at}`
    if (lastSign.text !== text) lastSign = { text, at: clock.monotonic() }
    return clock.monotonic() - lastSign.at >= ttlMs
  }

  const isFree = async () => {
    const row = await first(store.read, read, { name })
    if (!row || row.holder === holder || row.expires_at <= clock.now()) return true
    if (!isSilent(row) && !isGone(row.holder)) return false
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
  const [where, processId] = holder.split('/')
  if (where !== HERE || !Number(processId)) return false
  if (Number(processId) === process.pid) return false
  try {
    process.kill(Number(processId), 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/**
 * Where a process number means the same process: one start of one machine, and there one container. Names do not
 * tell: machines and containers may share one.
 */
function numberingOfProcesses(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${hostname()},${boot},${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Not Linux: there a machine's name has to do.
    return hostname()
  }
}

const HERE = numberingOfProcesses()
