import { performance } from 'node:perf_hooks'
import type { WaitingClock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { WEBHOOK_ALERTS } from './model.ts'
import { Pace } from './pace.ts'
import { WEBHOOK_ERRORS, webhookRoutes } from './routes.ts'
import { Webhooks, type WebhookDeps } from './service.ts'
import { names } from './tables.ts'
import { deliveryRunner, Endpoints, WebhookFeed } from './worker.ts'

export type { Webhook } from './model.ts'
export { MAX_WEBHOOKS, type WebhookDeps } from './service.ts'
export { interruptDeliveries } from './store.ts'

/** Events for the endpoints of other programs (docs/specification.md, Webhooks). */
export const webhooksDomain = defineDomain({
  name: 'webhooks',
  tables: names,
  events: {},
  errors: WEBHOOK_ERRORS,
  alerts: WEBHOOK_ALERTS,
  create: (deps: WebhookDeps & { readonly clock: WaitingClock }) => {
    const webhooks = new Webhooks({
      ...deps,
      wakeFeed: () => feed.wake(),
      wakeEndpoint: (id) => endpoints.wake(id),
    })
    const endpoints = new Endpoints(deps.clock, () => runner.wake())
    const pace = new Pace({ clock: deps.clock, utilization: loopUtilization() })
    const runner = deliveryRunner(webhooks, endpoints, { ...deps, pace })
    const feed = new WebhookFeed({ ...deps, endpoints, pace })
    return {
      service: webhooks,
      /** A message was written; cheap. */
      wake: () => feed.wakeForMessage(),
      routes: webhookRoutes(webhooks, deps.caller),
      jobs: { worker: [webhookPruneJob(webhooks), webhookPendingJob(webhooks, deps.metrics)] },
      runners: { worker: [feed, runner] },
    } satisfies DomainParts & { wake: () => void }
  },
})

// Small batches let other writes run in between.
const PRUNE_BATCH = 500
const COUNT_EVERY_MS = 30 * SECOND

/** Removes the deliveries whose events are no longer in the log. */
function webhookPruneJob(webhooks: Webhooks): Job {
  return {
    name: 'webhook-delivery-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await webhooks.prune(PRUNE_BATCH)) > 0),
  }
}

/** Updates the gauge of what endpoints have not got yet. */
function webhookPendingJob(webhooks: Webhooks, metrics: Metrics): Job {
  const pending = metrics.gauge({
    name: 'webhook_pending_deliveries',
    help: 'Events that endpoints of webhooks have not got yet, read every 30 s.',
  })
  return {
    name: 'webhook-pending',
    everyMs: COUNT_EVERY_MS,
    gauges: [pending],
    async run() {
      pending.set(await webhooks.pending())
    },
  }
}

/** Which part of the time since the last call the event loop was busy. */
function loopUtilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
