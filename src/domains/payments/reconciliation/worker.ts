import type { Job } from '../../../kernel/job.ts'
import { CLOCK_DIFFERENCE_MS, DAY, MINUTE, SECOND } from '../../../kernel/time.ts'
import { Runner, type WorkClaim } from '../../../store/work/runner.ts'
import type { ClaimFilter } from '../../../store/work/work-queue.ts'
import type { Tx } from '../../../store/store.ts'
import type { RunnerScope } from '../worker.ts'
import type { PaymentDeps } from '../deps.ts'
import { COMMAND_LEASE_MS, type ReconciliationResult, type Reconciliations } from './service.ts'
import { reconciliationQueue, type ReconciliationRow } from './store.ts'

const LOOK_EVERY_MS = 5 * SECOND
const LEASE_MS = 30 * SECOND
// A failure is recorded as the result; the daily job requests the reconciliation again.
const RETRY = { initialMs: SECOND, maximumMs: MINUTE, giveUpAfterMs: DAY }

/** Makes the reconciliations of a channel that were requested. */
export function reconciliationRunner(
  { name, only, everyMs = LOOK_EVERY_MS }: RunnerScope,
  reconciliations: Reconciliations,
  deps: PaymentDeps,
): Runner<ReconciliationRow, ReconciliationResult> {
  return new Runner<ReconciliationRow, ReconciliationResult>({
    ...deps,
    name: `payment-reconciliations-${name}`,
    everyMs,
    leaseMs: LEASE_MS,
    concurrency: 1,
    retry: RETRY,
    claim: (tx, claim) => claimReconciliations(tx, claim, only),
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

/** Leaves to a command what it makes, as long as the command runs or its lease is valid. */
export async function claimReconciliations(
  tx: Tx,
  claim: WorkClaim,
  only?: ClaimFilter,
): Promise<ReconciliationRow[]> {
  await reconciliationQueue.expireDead(tx, claim.now)
  const longestPauseMs = COMMAND_LEASE_MS + CLOCK_DIFFERENCE_MS
  return reconciliationQueue.claim(tx, { ...claim, longestPauseMs }, only)
}

/** Requests the reconciliations of `payments.reconcile_at`. */
export function reconciliationJob(reconciliations: Reconciliations): Job {
  return { name: 'payment-reconciliation', everyMs: MINUTE, run: () => reconciliations.requestDue() }
}
