import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { PAYMENT_ALERTS } from './alerts.ts'
import type { Callbacks } from './callbacks.ts'
import type { ChannelHealth } from './channel-health.ts'
import type { PaymentDeps } from './deps.ts'
import { type Payment, PAYMENT_EVENTS } from './model.ts'
import { PAYMENT_ERRORS, PAYMENT_READERS, paymentRoutes } from './routes.ts'
import { encodePayment, PaymentSchema } from './schemas.ts'
import type { Reconciliation } from './reconciliation/model.ts'
import {
  encodeReconciliation,
  RECONCILIATION_READERS,
  reconciliationRoutes,
  ReconciliationSchema,
} from './reconciliation/routes.ts'
import { Reconciliations } from './reconciliation/service.ts'
import { reconciliationJob, reconciliationRunner } from './reconciliation/worker.ts'
import { Payments } from './service.ts'
import { names } from './tables.ts'
import { paymentRunner, refundRunner, runnerScopes } from './worker.ts'

export type { Payment } from './model.ts'
export type { Difference, Reconciliation } from './reconciliation/model.ts'
export type { PaymentDeps } from './deps.ts'
export { Payments } from './service.ts'
export { restorePayments } from './store.ts'

/** Payments of orders through providers (docs/specification.md, Payments). */
export const paymentsDomain = defineDomain({
  name: 'payments',
  tables: names,
  events: PAYMENT_EVENTS,
  eventSchemas: { [PAYMENT_EVENTS.reconciled]: ReconciliationSchema, 'payment.*': PaymentSchema },
  eventReaders: PAYMENT_READERS,
  eventReadersOf: { [PAYMENT_EVENTS.reconciled]: RECONCILIATION_READERS },
  errors: PAYMENT_ERRORS,
  alerts: PAYMENT_ALERTS,
  encodeEvent: (data: Payment | Reconciliation) =>
    'date' in data ? encodeReconciliation(data) : encodePayment(data),
  create: (deps: PaymentDeps) => {
    const payments = new Payments({
      ...deps,
      wakePayments: () => wakeAll(paymentWork),
      wakeRefunds: () => wakeAll(refundWork),
    })
    const channels = [...deps.channels.keys()]
    const scopes = runnerScopes(channels)
    const paymentWork = scopes.map((scope) => paymentRunner(scope, payments, deps))
    const refundWork = scopes.map((scope) => refundRunner(scope, payments, deps))
    const reconciliations = new Reconciliations({
      ...deps,
      channel: (name) => payments.channel(name),
      wake: () => wakeAll(reconciliationWork),
    })
    const reconciliationWork = scopes.map((scope) => reconciliationRunner(scope, reconciliations, deps))
    // Without channels there is nothing to do.
    const isUsed = channels.length > 0
    const runners = [...paymentWork, ...refundWork, ...reconciliationWork]
    // Their metrics exist without channels, too.
    const paymentAge = paymentAgeJob(payments.health, deps.metrics)
    const channelCheck = channelCheckJob(payments.health, { metrics: deps.metrics, channels })
    return {
      service: payments,
      reconciliations,
      routes: [...paymentRoutes(payments), ...reconciliationRoutes(reconciliations)],
      jobs: {
        api: isUsed ? [paymentAge] : [],
        worker: isUsed
          ? [callbackPruneJob(payments.callbacks), channelCheck, reconciliationJob(reconciliations)]
          : [],
      },
      // The api has runners, too: a payment must not wait for a worker that does not run.
      runners: { api: runners, worker: runners },
    } satisfies DomainParts & { reconciliations: Reconciliations }
  },
})

function wakeAll(runners: readonly { wake(): void }[]): void {
  for (const runner of runners) runner.wake()
}

const PRUNE_BATCH = 500
const COUNT_EVERY_MS = 30 * SECOND

/** Forgets callbacks that no provider repeats any more. */
function callbackPruneJob(callbacks: Callbacks): Job {
  return {
    name: 'payment-callback-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await callbacks.prune(PRUNE_BATCH)) === PRUNE_BATCH),
  }
}

/** Updates the gauge of payments whose creation is unclear. */
function paymentAgeJob(health: ChannelHealth, metrics: Metrics): Job {
  const oldest = metrics.gauge({
    name: 'payment_oldest_creating_seconds',
    help: 'Age of the oldest payment that a provider has not clearly created, read every 30 s; 0 if there is none.',
  })
  oldest.clear()
  return {
    name: 'payment-age',
    everyMs: COUNT_EVERY_MS,
    gauges: [oldest],
    async run() {
      oldest.set((await health.oldestCreatingMs()) / SECOND)
    },
  }
}

/** Looks for channels by which no payment works. */
function channelCheckJob(
  health: ChannelHealth,
  { metrics, channels }: { readonly metrics: Metrics; readonly channels: readonly string[] },
): Job {
  const failing = metrics.gauge({
    name: 'payment_channel_failing',
    help: 'Whether the provider of the channel has opened none of the last payments (1), read every minute by the worker.',
    labels: ['channel'],
  })
  return {
    name: 'payment-channels',
    everyMs: MINUTE,
    gauges: [failing],
    async run() {
      const names = await health.reportFailing()
      for (const channel of channels) failing.set(names.has(channel) ? 1 : 0, { channel })
    },
  }
}
