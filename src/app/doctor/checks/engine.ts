import { statSync } from 'node:fs'
import type { Config } from '../../../config/config.ts'
import { HOUR, SECOND } from '../../../kernel/time.ts'
import { listenersOf, readOwnText } from '../../own-listeners.ts'
import { fine, NOT_MADE_YET, skipped, warning, type Check, type CheckFinding } from '../check.ts'

const ANSWER_MS = 2 * SECOND
const PERCENTILE = 0.99
// Fewer commits, or a shorter time, would describe the start of a process and not its work.
const FEWEST_COMMITS = 10_000
const LEAST_UPTIME_SECONDS = HOUR / SECOND
const GB = 1e9

/** SQLite is near its limit on this server above one of these values (docs/specification.md, Health). */
const LIMITS = { bytes: 50 * GB, waitingWrites: 1_000, commitSeconds: 0.25, processors: 0.8 }

/** What a running platform says of its work since its start. */
export interface EngineLoad {
  readonly waitingWrites: number
  /** Within this time 99 of 100 commits ended; undefined until there are {@link FEWEST_COMMITS}. */
  readonly commitSeconds: number | undefined
  /** How many processors it kept busy on average; undefined in its first hour. */
  readonly processors: number | undefined
}

/** Whether the embedded database is large or busy enough to move to PostgreSQL. */
export const engineCheck: Check = {
  name: 'engine',
  modules: ['api', 'worker'],
  async run({ loaded: { config }, clock, database: readDatabase }) {
    const { database } = config
    if (database.kind !== 'sqlite') return [skipped('PostgreSQL', 'its own server says what it needs')]
    const state = await readDatabase().catch(() => 'unusable')
    if (state === 'unusable') return [skipped(database.path, 'needs the database')]
    const bytes = statSync(database.path, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return [skipped(database.path, NOT_MADE_YET)]
    return [engineFinding(database.path, bytes, await loadOf(config, clock.now()))]
  },
}

export function engineFinding(path: string, bytes: number, load: EngineLoad | undefined): CheckFinding {
  const facts = [`${(bytes / GB).toFixed(1)} GB`, ...(load ? factsOf(load) : ['no platform answers'])]
  const detail = facts.join(', ')
  const isNearItsLimit =
    bytes > LIMITS.bytes ||
    (load !== undefined &&
      (load.waitingWrites > LIMITS.waitingWrites ||
        (load.commitSeconds ?? 0) > LIMITS.commitSeconds ||
        (load.processors ?? 0) > LIMITS.processors))
  if (!isNearItsLimit) return fine(path, detail)
  return warning(path, 'engine_near_end', { load: detail })
}

function factsOf({ waitingWrites, commitSeconds, processors }: EngineLoad): string[] {
  return [
    ...(commitSeconds === undefined ? [] : [`99 % of commits within ${commitSeconds * SECOND} ms`]),
    `${waitingWrites} writes wait`,
    ...(processors === undefined ? [] : [`${processors.toFixed(2)} processors busy`]),
  ]
}

/** The load of the first listener that answers; undefined if none does. */
async function loadOf(config: Config, now: number): Promise<EngineLoad | undefined> {
  for (const listener of listenersOf(config)) {
    const text = await readOwnText(listener, '/metrics', ANSWER_MS).catch(() => '')
    const load = parseLoad(text, now)
    if (load) return load
  }
  return undefined
}

/** Reads the load from the metrics of a platform; undefined for any other text, such as a refusal. */
export function parseLoad(text: string, now: number): EngineLoad | undefined {
  const samples = new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const end = line.lastIndexOf(' ')
      return line.startsWith('platform_') ? [[line.slice(0, end), Number(line.slice(end + 1))]] : []
    }),
  )
  const startedAt = samples.get('platform_process_start_time_seconds')
  if (startedAt === undefined) return undefined
  const seconds = now / SECOND - startedAt
  const busySeconds = samples.get('platform_process_cpu_seconds_total') ?? 0
  return {
    waitingWrites: samples.get('platform_store_write_queue_length') ?? 0,
    commitSeconds: percentileOf('platform_store_commit_seconds', samples),
    processors: seconds < LEAST_UPTIME_SECONDS ? undefined : busySeconds / seconds,
  }
}

/** The bound of the bucket in which the percentile is. */
function percentileOf(histogram: string, samples: ReadonlyMap<string, number>): number | undefined {
  const total = samples.get(`${histogram}_count`) ?? 0
  if (total < FEWEST_COMMITS) return undefined
  for (const [name, count] of samples) {
    const bound = name.startsWith(`${histogram}_bucket{`) ? /le="([^"]+)"/.exec(name)?.[1] : undefined
    if (bound !== undefined && count >= PERCENTILE * total) return Number(bound.replace('+Inf', 'Infinity'))
  }
  return undefined
}
