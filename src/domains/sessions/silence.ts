import type { Clock } from '../../kernel/clock.ts'
import { INTERVALS_UNTIL_DEAD } from './model.ts'

/** A run of a gateway, and its last sign of life. */
export interface WatchedRun {
  readonly runId: string
  readonly name: string
  readonly heartbeatMs: number
  /** By the clock of its own host: it is compared with the previous value only. */
  readonly lastSeenAt: number
}

interface Sighting {
  readonly lastSeenAt: number
  /** Monotonic: when this sign of life was seen for the first time. */
  readonly since: number
}

/** Finds silent runs by the time that passes here; no clock is compared with that of another host. */
export class SilenceWatch {
  readonly #clock: Clock
  #sightings = new Map<string, Sighting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes all runs; returns those without a sign of life for three of their intervals. */
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
