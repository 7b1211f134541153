import type { Clock } from '../../kernel/clock.ts'
import { INTERVALS_UNTIL_DEAD } from './model.ts'

/** A run of a gateway, and its last sign of life. */
export interface WatchedRun {
  readonly runId: string
  readonly name: string
  readonly heartbeatMs: number
  /** By the wall clock of its own machine: good for being different from the one before, and for nothing else. */
  readonly lastSeenAt: number
}

/** Notices which runs have gone silent, by the time that passes here: no clock is compared with that of another machine. */
export interface SilenceWatch {
  /** Looks at all runs there are; answers those that gave no sign of life for three of their intervals. */
  look(runs: readonly WatchedRun[]): WatchedRun[]
}

interface Sighting {
  readonly lastSeenAt: number
  /** Monotonic: when this sign of life was seen for the first time. */
  readonly since: number
}

export function createSilenceWatch(clock: Clock): SilenceWatch {
  let sightings = new Map<string, Sighting>()
  return {
    look(runs) {
      const now = clock.monotonic()
      const sightingOf = ({ runId, lastSeenAt }: WatchedRun): Sighting => {
        const before = sightings.get(runId)
        return before?.lastSeenAt === lastSeenAt ? before : { lastSeenAt, since: now }
      }
      const looked = runs.map((run) => ({ run, sighting: sightingOf(run) }))
      sightings = new Map(looked.map(({ run, sighting }) => [run.runId, sighting]))
      return looked
        .filter(({ run, sighting }) => now - sighting.since >= INTERVALS_UNTIL_DEAD * run.heartbeatMs)
        .map(({ run }) => run)
    },
  }
}
