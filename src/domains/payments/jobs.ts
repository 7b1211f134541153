import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import type { Callbacks } from './callbacks.ts'
import type { ChannelHealth } from './channel-health.ts'

const PRUNE_BATCH = 500
const COUNT_EVERY_MS = 30 * SECOND

/** Forgets callbacks that no provider repeats any more. */
export function callbackPruneJob(callbacks: Pick<Callbacks, 'prune'>): Job {
  return {
    name: 'payment-callback-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await callbacks.prune(PRUNE_BATCH)) === PRUNE_BATCH),
  }
}

/** Updates the gauge of payments whose creation is unclear. */
export function paymentAgeJob(health: Pick<ChannelHealth, 'oldestCreatingMs'>, metrics: Metrics): Job {
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
export function channelCheckJob(
  health: Pick<ChannelHealth, 'reportFailing'>,
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
