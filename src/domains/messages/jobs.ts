import type { Clock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import type { Messages } from './service.ts'

// Small batches let other writes run in between.
const BATCH = 500

/** Removes delivered messages that are older than `keepMs`. */
export function messagePruneJob(messages: Pick<Messages, 'prune'>, clock: Clock, keepMs: number): Job {
  return {
    name: 'message-prune',
    everyMs: HOUR,
    async run(signal) {
      while (!signal.aborted && (await messages.prune(clock.now() - keepMs, BATCH)) === BATCH);
    },
  }
}
