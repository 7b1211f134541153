import type { StreamConfig } from '@nats-io/jetstream'
import { StorageType } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { DAY, MINUTE } from '../../kernel/time.ts'
import type { JetStream } from './jetstream.ts'
import { patternCovers, patternsCollide } from './subjects.ts'

export const STREAM_NAME = 'PLATFORM'

/** Marks a stream as created by the platform: another text would disown the streams that exist. */
const DESCRIPTION = 'Events of the platform, made by it when it found no stream for them'

const MAX_AGE_MS = 7 * DAY

/**
 * A publish whose acknowledgement was lost is repeated as soon as the bus is back, so the window has to outlast an
 * outage: half an hour covers a restart, a reboot and an operator who is called. Not more, because the server keeps
 * every id of the window in memory. Receivers drop later duplicates by id.
 */
export const DUPLICATE_WINDOW_MS = 30 * MINUTE

export interface PlatformStreamOptions {
  /** As patterns. */
  readonly subjects: readonly string[]
  /** How many servers store the stream; undefined leaves a stream as it is. */
  readonly replicas: number | undefined
}

/**
 * Creates the stream `PLATFORM` for the subjects that no other stream takes, or adds the subjects that it lacks.
 * Returns the subjects added. Rejects if the server refuses. Streams of operators are not changed.
 */
export async function ensurePlatformStream(
  { streams }: JetStream,
  existing: readonly StreamConfig[],
  { subjects, replicas }: PlatformStreamOptions,
): Promise<readonly string[]> {
  const ours = existing.find(isOurs)
  const taken = existing.filter((config) => config !== ours).flatMap(subjectsOf)
  const wanted = subjects.filter((subject) => !taken.some((other) => patternsCollide(subject, other)))
  const current = ours ? subjectsOf(ours) : []
  const missing = notCovered(wanted, current)
  if (missing.length === 0) return missing
  if (ours) await streams.update(STREAM_NAME, { subjects: [...missing, ...notCovered(current, missing)] })
  else await streams.add(newStream(missing, replicas))
  return missing
}

/**
 * Gives the stream `PLATFORM` the wanted number of replicas, and returns the former number; undefined when nothing is to
 * be changed. Rejects if the server refuses, for example because the cluster has fewer servers.
 */
export async function ensureReplicas(
  { streams }: JetStream,
  existing: readonly StreamConfig[],
  replicas: number | undefined,
): Promise<number | undefined> {
  const ours = existing.find(isOurs)
  if (!ours || replicas === undefined || ours.num_replicas === replicas) return undefined
  await streams.update(STREAM_NAME, { num_replicas: replicas })
  return ours.num_replicas
}

/** A mirror has no subjects. */
export function subjectsOf(config: StreamConfig): readonly string[] {
  return config.subjects ?? []
}

/** Whether the platform has created the stream. */
export function isOurs({ name, description }: StreamConfig): boolean {
  return name === STREAM_NAME && description === DESCRIPTION
}

function notCovered(patterns: readonly string[], by: readonly string[]): string[] {
  return patterns.filter((pattern) => !by.some((wider) => patternCovers(wider, pattern)))
}

function newStream(subjects: readonly string[], replicas: number | undefined) {
  return {
    name: STREAM_NAME,
    description: DESCRIPTION,
    subjects: [...subjects],
    storage: StorageType.File,
    max_age: nanos(MAX_AGE_MS),
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
}
