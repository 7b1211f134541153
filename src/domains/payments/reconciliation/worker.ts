import type { Job } from '../../../kernel/job.ts'
import { DAY, MINUTE, SECOND } from '../../../kernel/time.ts'
import { Runner } from '../../../store/work/runner.ts'
import type { RunnerDeps, RunnerScope } from '../worker.ts'
import type { ReconciliationResult, Reconciliations } from './service.ts'
import { reconciliationQueue, type ReconciliationRow } from './store.ts'

const LOOK_EVERY_MS = 5 * SECOND
const LEASE_MS = 30 * SECOND
// A failure is a result; the daily job requests it again.
const RETRY = { initialMs: SECOND, maximumMs: MINUTE, giveUpAfterMs: DAY }

/** Makes the reconciliations of a channel that were requested. */
export function reconciliationRunner(
  { name, only, everyMs = LOOK_EVERY_MS }: RunnerScope,
  reconciliations: Pick<Reconciliations, 'run' | 'finish'>,
  deps: RunnerDeps,
): Runner<ReconciliationRow, ReconciliationResult> {
  return new Runner<ReconciliationRow, ReconciliationResult>({
    ...deps,
    name: `payment-reconciliations-${name}`,
    everyMs,
    leaseMs: LEASE_MS,
    concurrency: 1,
    retry: RETRY,
    claim: (tx, claim) => reconciliationQueue.claim(tx, claim, only),
    renew: (tx, row, lease) => reconciliationQueue.renew(tx, row, lease),
    work: (row, signal) => reconciliations.run(row, signal),
    async settle(tx, row, holder, outcome) {
      const isOver = outcome.status === 'done' || outcome.status === 'failed'
      if (!(await reconciliationQueue.release(tx, row, { holder, dueAt: isOver ? null : outcome.at })))
        return false
      if (outcome.status === 'done') await reconciliations.finish(tx, row, outcome.result)
      if (outcome.status === 'failed')
        await reconciliations.finish(tx, row, { status: 'failed', error: 'It was given up after a day.' })
      return true
    },
  })
}

/** Requests the reconciliations of `payments.reconcile_at`. */
export function reconciliationJob(reconciliations: Pick<Reconciliations, 'requestDue'>): Job {
  return { name: 'payment-reconciliation', everyMs: MINUTE, run: () => reconciliations.requestDue() }
}
