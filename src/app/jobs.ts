import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Job } from '../kernel/job.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { backoffMs } from '../kernel/waiting.ts'
import { HOUR, SECOND } from '../kernel/time.ts'
import { newTrace, runInTrace } from '../kernel/trace.ts'

export interface JobRunner {
  /** Asks the current runs to stop; no other one starts. */
  abort(): void
  /** Aborts the current runs and waits for them; may be called twice. */
  stop(): Promise<void>
}

interface JobRunnerDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Whether the log has said that the database is unavailable; the jobs do not repeat it. */
  readonly isDatabaseOut: () => boolean
}

const OUTCOMES = ['done', 'failed'] as const
const SECONDS = [0.001, 0.01, 0.1, 1, 10, 60]
// A run starts up to a tenth of its period later, so that many processes do not all scan at the same moment.
const JITTER = 0.1
// A timer of Node.js that is set for longer ends after a millisecond.
const LONGEST_PAUSE_MS = 2 ** 31 - 1

// A run that fails at a loaded start must not leave an hourly job without a success for an hour.
const AFTER_FAILURE = { initialMs: 10 * SECOND, maximumMs: HOUR }

/**
 * Runs each job immediately and then periodically, `everyMs` after the end of its last run: a job never overlaps with
 * itself. A failed run is logged and counted, and repeated after growing pauses of at most `everyMs`.
 */
export function startJobs(jobs: readonly Job[], deps: JobRunnerDeps): JobRunner {
  const abort = new AbortController()
  const record = createRecord(jobs, deps)
  const loops = jobs.map((job) => loop(job, record, abort.signal))
  return {
    abort: () => abort.abort(),
    async stop() {
      abort.abort()
      await Promise.all(loops)
    },
  }
}

async function loop(
  job: Job,
  record: (job: Job, run: () => Promise<void>) => Promise<boolean>,
  signal: AbortSignal,
) {
  let failures = 0
  while (!signal.aborted) {
    const hasSucceeded = await runInTrace(newTrace(false), () => record(job, () => job.run(signal)))
    failures = hasSucceeded ? 0 : failures + 1
    await sleep(pauseMs(job, failures), undefined, { signal, ref: false }).catch(() => undefined)
  }
}

/** The pause before the next run, after some failed ones. */
export function pauseMs({ everyMs }: Pick<Job, 'everyMs'>, failures: number, random = Math.random): number {
  const regular = Math.min(LONGEST_PAUSE_MS, everyMs * (1 + JITTER * random()))
  return failures === 0 ? regular : Math.min(regular, backoffMs(AFTER_FAILURE, failures - 1, random))
}

// The label is not `job`: Prometheus uses that one for its scrape targets.
function createRecord(jobs: readonly Job[], { clock, logger, metrics, isDatabaseOut }: JobRunnerDeps) {
  const runs = metrics.counter({
    name: 'job_runs_total',
    help: 'Runs of background jobs.',
    labels: { name: jobs.map(({ name }) => name), outcome: OUTCOMES },
  })
  const seconds = metrics.histogram({
    name: 'job_run_seconds',
    help: 'Duration of the runs of background jobs.',
    labels: ['name'],
    buckets: SECONDS,
  })
  const lastSuccess = metrics.gauge({
    name: 'job_last_success_timestamp_seconds',
    help: 'Time of the last successful run of a background job.',
    labels: ['name'],
  })
  return async ({ name, gauges = [] }: Job, run: () => Promise<void>): Promise<boolean> => {
    const start = clock.monotonic()
    let hasSucceeded = false
    try {
      await run()
      runs.increment({ name, outcome: 'done' })
      lastSuccess.set(clock.now() / 1_000, { name })
      hasSucceeded = true
    } catch (error) {
      for (const gauge of gauges) gauge.clear()
      runs.increment({ name, outcome: 'failed' })
      const isKnown = isDatabaseOut() && error instanceof AppError && error.code === 'store_unavailable'
      logger[isKnown ? 'debug' : 'warn']({ job: name, error }, 'job failed; it will run again')
    }
    seconds.observe((clock.monotonic() - start) / 1_000, { name })
    return hasSucceeded
  }
}
