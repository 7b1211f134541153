import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import type { Messages } from './service.ts'

// Small batches let other writes run in between.
const BATCH = 500

/** Removes delivered messages that are older than `keepMs`. */
export function messagePruneJob(messages: Pick<Messages, 'prune'>, clock: Clock, keepMs: number): Job {
  return {
    name: 'message-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await messages.prune(clock.now() - keepMs, BATCH)) > 0),
  }
}
