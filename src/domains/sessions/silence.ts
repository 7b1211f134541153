import type { Clock } from '../../kernel/clock.ts'
import { INTERVALS_UNTIL_DEAD } from '../../ports/session-registry.ts'

/** A run of a gateway, and its last heartbeat. */
export interface WatchedRun {
  readonly runId: string
  readonly name: string
  readonly heartbeatMs: number
  /** By the clock of the gateway's host, so it is compared only with its own previous value. */
  readonly lastSeenAt: number
}

interface Sighting {
  readonly lastSeenAt: number
  /** When this process has read this heartbeat for the first time, by the monotonic clock. */
  readonly since: number
}

/** Finds silent runs by the monotonic clock of this process; clocks of different hosts are never compared. */
export class SilenceWatch {
  readonly #clock: Clock
  #sightings = new Map<string, Sighting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes all runs; returns those without a new heartbeat for three of their intervals. */
  findSilent(runs: readonly WatchedRun[]): WatchedRun[] {
    const now = this.#clock.monotonic()
    this.#sightings = new Map(runs.map((run) => [run.runId, this.#sighting(run, now)]))
    return runs.filter(({ runId, heartbeatMs }) => {
      const { since = now } = this.#sightings.get(runId) ?? {}
      return now - since >= INTERVALS_UNTIL_DEAD * heartbeatMs
    })
  }

  #sighting({ runId, lastSeenAt }: WatchedRun, now: number): Sighting {
    const last = this.#sightings.get(runId)
    return last?.lastSeenAt === lastSeenAt ? last : { lastSeenAt, since: now }
  }
}
