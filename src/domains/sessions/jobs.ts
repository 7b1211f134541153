import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import type { Sessions } from './service.ts'

// A dead gateway is noticed up to two periods late.
const UPKEEP_EVERY_MS = SECOND
// For investigations. 1,000 sessions a day make 2,000 audit entries a day: 180,000 rows, about 70 MB.
const KEEP_MS = 90 * DAY
// Other writes run between two batches.
const BATCH = 500

/** Releases the addresses of dead gateways. */
export function sessionUpkeepJob(sessions: Sessions): Job {
  return {
    name: 'vpn-upkeep',
    everyMs: UPKEEP_EVERY_MS,
    async run() {
      await sessions.reclaim()
    },
  }
}

/** Deletes closed sessions and audit entries that are older than 90 days. */
export function sessionPruneJob(sessions: Sessions, clock: Clock): Job {
  return {
    name: 'vpn-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, () => sessions.prune(clock.now() - KEEP_MS, BATCH)),
  }
}
