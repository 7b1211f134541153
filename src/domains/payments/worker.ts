import { MINUTE, SECOND, DAY } from '../../kernel/time.ts'
import type { ProviderRefund } from '../../ports/payments.ts'
import { Runner, type RunnerOptions } from '../../store/work/runner.ts'
import type { ClaimFilter } from '../../store/work/work-queue.ts'
import { LONGEST_PAYMENT_PAUSE_MS, LONGEST_REFUND_PAUSE_MS } from './model.ts'
import { actorOfOutcome, type CallOutcome } from './provider-calls.ts'
import type { Payments } from './service.ts'
import { paymentQueue, refundQueue, setRefundDueAt, type PaymentRow, type RefundRow } from './store.ts'

export type RunnerDeps = Pick<
  RunnerOptions<PaymentRow, CallOutcome>,
  'store' | 'clock' | 'logger' | 'metrics'
>

const LOOK_EVERY_MS = SECOND
// A call lasts 10 seconds at most.
const LEASE_MS = 30 * SECOND
const CONCURRENCY = 16
// The outcomes decide when to look again; only a defect makes a call reject.
const retryWith = (maximumMs: number) => ({ initialMs: MINUTE, maximumMs, giveUpAfterMs: 36_500 * DAY })

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

/** Makes the calls for payments of a channel that are due: repeats their creation, asks for them, closes them. */
export function paymentRunner(
  { name, only, everyMs = LOOK_EVERY_MS }: RunnerScope,
  payments: Pick<Payments, 'askProvider' | 'states'>,
  deps: RunnerDeps,
): Runner<PaymentRow, CallOutcome> {
  const retry = retryWith(LONGEST_PAYMENT_PAUSE_MS)
  return new Runner<PaymentRow, CallOutcome>({
    ...deps,
    name: `payments-${name}`,
    everyMs,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    retry,
    claim: (tx, claim) => paymentQueue.claim(tx, claim, only),
    renew: (tx, payment, lease) => paymentQueue.renew(tx, payment, lease),
    work: (payment) => payments.askProvider(payment),
    async settle(tx, payment, holder, outcome) {
      if (outcome.status !== 'done') {
        const dueAt = outcome.status === 'failed' ? deps.clock.now() + LONGEST_PAYMENT_PAUSE_MS : outcome.at
        return paymentQueue.release(tx, payment, { holder, dueAt })
      }
      // The lease comes first: another process may work on the payment by now.
      if (!(await paymentQueue.release(tx, payment, { holder, dueAt: null }))) return false
      await payments.states.applyOutcome(
        tx,
        payment.id,
        outcome.result,
        actorOfOutcome(payment, outcome.result),
      )
      await payments.states.plan(tx, payment.id, payment.attempts)
      return true
    },
  })
}

/** Makes refunds of a channel and asks for them. */
export function refundRunner(
  { name, only, everyMs = LOOK_EVERY_MS }: RunnerScope,
  { refunds }: Pick<Payments, 'refunds'>,
  deps: RunnerDeps,
): Runner<RefundRow, ProviderRefund | undefined> {
  return new Runner<RefundRow, ProviderRefund | undefined>({
    ...deps,
    name: `payment-refunds-${name}`,
    everyMs,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    retry: retryWith(LONGEST_REFUND_PAUSE_MS),
    claim: (tx, claim) => refundQueue.claim(tx, claim, only),
    renew: (tx, refund, lease) => refundQueue.renew(tx, refund, lease),
    work: (refund) => refunds.askProvider(refund),
    async settle(tx, refund, holder, outcome) {
      if (outcome.status !== 'done') {
        const dueAt = outcome.status === 'failed' ? deps.clock.now() + LONGEST_REFUND_PAUSE_MS : outcome.at
        return refundQueue.release(tx, refund, { holder, dueAt })
      }
      if (!(await refundQueue.release(tx, refund, { holder, dueAt: null }))) return false
      if (outcome.result)
        await refunds.apply(tx, refund.number, outcome.result, `payment:${refund.channel}`, refund.channel)
      await setRefundDueAt(tx, refund.id, await refunds.dueAfter(tx, refund, refund.attempts))
      return true
    },
  })
}
