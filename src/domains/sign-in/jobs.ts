import { runBatches, type Job } from '../../kernel/job.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { SignIn } from './service.ts'

// Deleting in batches lets other writes in between.
const PRUNE_BATCH = 1_000

/** Removes expired tickets and answers. */
export function signInPruneJob(signIn: SignIn): Job {
  return {
    name: 'sign-in-prune',
    everyMs: 10 * MINUTE,
    run: (signal) => runBatches(signal, () => signIn.prune(PRUNE_BATCH)),
  }
}
