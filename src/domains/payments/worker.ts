import { MINUTE, SECOND, DAY } from '../../kernel/time.ts'
import type { ProviderRefund } from '../../ports/payments.ts'
import type { Tx } from '../../store/store.ts'
import { Runner, type WorkClaim, type WorkItem } from '../../store/work/runner.ts'
import type { ClaimFilter } from '../../store/work/work-queue.ts'
import type { PaymentDeps } from './deps.ts'
import { LONGEST_PAYMENT_PAUSE_MS, LONGEST_REFUND_PAUSE_MS } from './model.ts'
import { actorOfOutcome, type CallOutcome } from './provider-calls.ts'
import type { Payments } from './service.ts'
import { paymentQueue, refundQueue, setRefundDueAt, type PaymentRow, type RefundRow } from './store.ts'

type RunnerDeps = Pick<PaymentDeps, 'store' | 'clock' | 'logger' | 'metrics'>

const LOOK_EVERY_MS = SECOND
// A call lasts 10 seconds at most.
const LEASE_MS = 30 * SECOND
const CONCURRENCY = 16

/** The rows of one runner. */
export interface RunnerScope {
  readonly name: string
  readonly only?: ClaimFilter
  readonly everyMs?: number
}

/**
 * The scopes of the runners: one for each channel, because a provider that does not answer must not delay the others; the
 * last one is for rows of removed channels.
 */
export function runnerScopes(channels: readonly string[]): RunnerScope[] {
  const filter = (operator: ClaimFilter['operator'], values: readonly string[]): ClaimFilter => ({
    column: 'channel',
    operator,
    values,
  })
  const others = channels.length > 0 && { only: filter('not in', channels) }
  return [
    ...channels.map((name) => ({ name, only: filter('in', [name]) })),
    { name: '*', everyMs: MINUTE, ...others },
  ]
}

/** The queue of the payments, or that of the refunds. */
interface RowQueue<Row> extends Pick<typeof paymentQueue, 'renew' | 'release'> {
  claim(tx: Tx, claim: WorkClaim, only?: ClaimFilter): Promise<Row[]>
}

interface ChannelWork<Row extends WorkItem, Result> {
  /** The prefix of the name of the runner. */
  readonly name: string
  readonly queue: RowQueue<Row>
  readonly longestPauseMs: number
  readonly work: (row: Row) => Promise<Result>
  /** Records a result, and when the row is due again. */
  readonly record: (tx: Tx, row: Row, result: Result) => Promise<void>
}

function channelRunner<Row extends WorkItem, Result>(
  { name: scope, only, everyMs = LOOK_EVERY_MS }: RunnerScope,
  { name, queue, longestPauseMs, work, record }: ChannelWork<Row, Result>,
  deps: RunnerDeps,
): Runner<Row, Result> {
  return new Runner<Row, Result>({
    ...deps,
    name: `${name}-${scope}`,
    everyMs,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    // The results decide when to look again; only a defect makes a call reject.
    retry: { initialMs: MINUTE, maximumMs: longestPauseMs, giveUpAfterMs: 36_500 * DAY },
    claim: (tx, claim) => queue.claim(tx, claim, only),
    renew: (tx, row, lease) => queue.renew(tx, row, lease),
    work,
    async settle(tx, row, holder, outcome) {
      if (outcome.status !== 'done') {
        const dueAt = outcome.status === 'failed' ? deps.clock.now() + longestPauseMs : outcome.at
        return queue.release(tx, row, { holder, dueAt })
      }
      // The lease comes first: another process may work on the row by now.
      if (!(await queue.release(tx, row, { holder, dueAt: null }))) return false
      await record(tx, row, outcome.result)
      return true
    },
  })
}

/** Makes the calls for payments of a channel that are due: repeats their creation, asks for them, closes them. */
export function paymentRunner(scope: RunnerScope, payments: Payments, deps: RunnerDeps) {
  const work: ChannelWork<PaymentRow, CallOutcome> = {
    name: 'payments',
    queue: paymentQueue,
    longestPauseMs: LONGEST_PAYMENT_PAUSE_MS,
    work: (payment) => payments.askProvider(payment),
    async record(tx, payment, outcome) {
      const { states } = payments
      await states.applyOutcome(tx, payment.id, outcome, actorOfOutcome(payment, outcome))
      await states.plan(tx, payment.id, payment.attempts)
    },
  }
  return channelRunner(scope, work, deps)
}

/** Makes refunds of a channel and asks for them. */
export function refundRunner(scope: RunnerScope, { refunds }: Payments, deps: RunnerDeps) {
  const work: ChannelWork<RefundRow, ProviderRefund | undefined> = {
    name: 'payment-refunds',
    queue: refundQueue,
    longestPauseMs: LONGEST_REFUND_PAUSE_MS,
    work: (refund) => refunds.askProvider(refund),
    async record(tx, refund, state) {
      const { id, channel, number, attempts } = refund
      if (state) await refunds.apply(tx, channel, number, state, `payment:${channel}`)
      await setRefundDueAt(tx, id, await refunds.dueAfter(tx, refund, attempts))
    },
  }
  return channelRunner(scope, work, deps)
}
