import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import type { ExecutionStatus } from './model.ts'
import type { CommandUpkeep } from './upkeep.ts'

const END_EVERY_MS = 2 * SECOND
const COUNT_EVERY_MS = 30 * SECOND
const LEFTOVERS_EVERY_MS = 10 * SECOND
const BATCH = 50
const PRUNE_BATCH = 100
// docs/specification.md, Commands
const KEEP_MS = 90 * DAY

/** Ends requests without a decision, executions that no worker begins, and runs of dead workers. It starts no process, so the api runs it too. */
export function commandEndJob(upkeep: CommandUpkeep): Job {
  return {
    name: 'command-end',
    everyMs: END_EVERY_MS,
    async run(signal) {
      await upkeep.endAbandoned()
      await runBatches(signal, async () => (await upkeep.endExpired(BATCH)) === BATCH)
      await runBatches(signal, async () => (await upkeep.endOverdue(BATCH)) === BATCH)
    },
  }
}

/** Kills processes of executions that are over: those of a worker that has died on this host. */
export function commandLeftoverJob(upkeep: CommandUpkeep): Job {
  return { name: 'command-leftovers', everyMs: LEFTOVERS_EVERY_MS, run: () => upkeep.killLeftovers() }
}

/** Removes old executions with their output. */
export function commandPruneJob(upkeep: CommandUpkeep, clock: Clock): Job {
  return {
    name: 'command-prune',
    everyMs: HOUR,
    run: (signal) =>
      runBatches(
        signal,
        async () => (await upkeep.prune(clock.now() - KEEP_MS, PRUNE_BATCH)) === PRUNE_BATCH,
      ),
  }
}

const UNFINISHED: readonly ExecutionStatus[] = ['awaiting_approval', 'queued', 'running']

/** Updates the gauge of unfinished executions. */
export function commandCountJob(upkeep: CommandUpkeep, metrics: Metrics): Job {
  const unfinished = metrics.gauge({
    name: 'command_executions',
    help: 'Executions of commands that are not finished, by status, counted every 30 s.',
    labels: ['status'],
  })
  return {
    name: 'command-count',
    everyMs: COUNT_EVERY_MS,
    gauges: [unfinished],
    async run() {
      const rows = await upkeep.countUnfinished()
      const counts = new Map(rows.map(({ status, executions }) => [status, executions]))
      for (const status of UNFINISHED) unfinished.set(counts.get(status) ?? 0, { status })
    },
  }
}
