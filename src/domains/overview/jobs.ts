import { runBatches, type Job } from '../../kernel/job.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import type { RollUp } from './roll-up.ts'

const COUNT_EVERY_MS = 2 * SECOND
const PRUNE_BATCH = 500

/** Counts the events of orders, and samples each step of the series. */
export function rollUpJob(rollUp: Pick<RollUp, 'fold' | 'sample'>): Job {
  return {
    name: 'overview-roll-up',
    everyMs: COUNT_EVERY_MS,
    async run(signal) {
      await rollUp.sample()
      await runBatches(signal, () => rollUp.fold())
    },
  }
}

/** Removes the steps that are older than 31 days. */
export function stepPruneJob(rollUp: Pick<RollUp, 'prune'>): Job {
  return {
    name: 'overview-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await rollUp.prune(PRUNE_BATCH)) === PRUNE_BATCH),
  }
}
