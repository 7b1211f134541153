import { MINUTE, SECOND } from '../../../../src/kernel/time.ts'

// The orders that have expired are searched every few seconds.
const MAX_AGE_MS = 5 * MINUTE

const SAMPLE = /^platform_(job_runs_total|job_last_success_timestamp_seconds)\{([^}]*)\} (\S+)$/gm

/** The last success of each job of a process in milliseconds, from its metrics; undefined for one that has none yet. */
export function jobTimes(metrics: string): Map<string, number | undefined> {
  const times = new Map<string, number | undefined>()
  for (const [, metric, labels = '', value] of metrics.matchAll(SAMPLE)) {
    const name = /(?:^|,)name="([^"]*)"/.exec(labels)?.[1]
    if (name === undefined) continue
    if (metric === 'job_runs_total') times.set(name, times.get(name))
    else times.set(name, Number(value) * SECOND)
  }
  return times
}

/**
 * What the metrics say about the jobs. Each has run since the start of its process, because the metrics begin with it.
 * Throws when a job has not succeeded yet, or none has for minutes.
 */
export function describeJobs(metrics: string, now: number): string {
  const times = jobTimes(metrics)
  if (times.size === 0) throw new Error('the worker has no jobs')
  const waiting = [...times].flatMap(([name, at]) => (at === undefined ? [name] : []))
  if (waiting.length > 0) throw new Error(`not succeeded since the start: ${waiting.join(', ')}`)
  const ageMs = now - Math.max(...[...times.values()].map((at) => at ?? 0))
  if (ageMs > MAX_AGE_MS) throw new Error(`no job has succeeded for ${Math.round(ageMs / SECOND)} s`)
  return `${times.size} jobs have succeeded, the last one ${Math.max(0, Math.round(ageMs / SECOND))} s ago`
}
