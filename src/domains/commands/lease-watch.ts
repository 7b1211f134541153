import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'

/** A run whose lease is not renewed for so long is incomplete; docs/specification.md, Commands: within 30 s. */
export const LEASE_MS = 18 * SECOND
// A live worker renews its lease every third of its duration.
const EXPIRED_MS = LEASE_MS / 2

/** The lease of a worker on a run. */
export interface RunLease {
  readonly id: string
  /** When it expires, by the clock of the worker. */
  readonly dueAt: number
}

/**
 * Finds the leases of dead workers. A clock may be set, and those of two hosts differ, so the time of an expiry is not
 * enough: the lease must also stay the same for some time, by a clock that never goes back.
 */
export class LeaseWatch {
  readonly #clock: Clock
  #seen: ReadonlyMap<string, { readonly dueAt: number; readonly since: number }> = new Map()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Finds the current leases that were not renewed for too long. Call it regularly. */
  findAbandoned(leases: readonly RunLease[]): RunLease[] {
    const now = this.#clock.monotonic()
    const earlier = this.#seen
    const seen = new Map(
      leases.map(({ id, dueAt }) => {
        const before = earlier.get(id)
        return [id, before?.dueAt === dueAt ? before : { dueAt, since: now }]
      }),
    )
    this.#seen = seen
    return leases.filter(({ id, dueAt }) => {
      const limit = dueAt <= this.#clock.now() ? EXPIRED_MS : LEASE_MS
      return now - (seen.get(id)?.since ?? now) >= limit
    })
  }
}
