import { HOUR } from '../../kernel/time.ts'
import { paymentAlarm } from './alerts.ts'
import type { PaymentDeps } from './deps.ts'
import { FAILED_IN_A_ROW, FAILING_WITHIN_MS, isChannelFailing } from './model.ts'
import { findOldestCreating, listLatest } from './store.ts'

const FAILING_AGAIN_MS = HOUR
// Payments that say nothing may lie between those that do.
const EXAMINED_PAYMENTS = 20

/** Whether the payments of each channel work, and how long one has been unclear. */
export class ChannelHealth {
  readonly #deps: PaymentDeps
  /** What this process has reported of each channel, and when. */
  readonly #reported = new Map<string, { readonly isFailing: boolean; readonly at: number }>()

  constructor(deps: PaymentDeps) {
    this.#deps = deps
  }

  /** The channels whose provider has opened none of the last payments. */
  async failingChannels(names: readonly string[] = [...this.#deps.channels.keys()]): Promise<string[]> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const failing: string[] = []
    for (const channel of names) {
      const latest = await listLatest(store.read, channel, now - FAILING_WITHIN_MS, EXAMINED_PAYMENTS)
      if (isChannelFailing(latest, now)) failing.push(channel)
    }
    return failing
  }

  /** Raises or ends the alert about each channel; returns those that fail. What is known already is reported once an hour. */
  async reportFailing(): Promise<ReadonlySet<string>> {
    const { alerts, channels, clock, store } = this.#deps
    const failing = new Set(await this.failingChannels())
    const now = clock.monotonic()
    for (const channel of channels.keys()) {
      const isFailing = failing.has(channel)
      const last = this.#reported.get(channel)
      const isKnown = last?.isFailing === isFailing && (!isFailing || now - last.at < FAILING_AGAIN_MS)
      if (isKnown) continue
      const alarm = paymentAlarm('payment.channel_failing:*', channel)
      await store.write((tx) =>
        isFailing
          ? alerts.raise(tx, { ...alarm, ...failingText(channel), severity: 'HIGH' })
          : alerts.recoverIfRaised(tx, {
              ...alarm,
              title: `Payments by the channel ${channel} work again`,
              body: 'The provider has opened one.',
            }),
      )
      this.#reported.set(channel, { isFailing, at: now })
    }
    return failing
  }

  /** How long the creation of the oldest unclear payment has been unclear, in milliseconds; 0 if there is none. */
  async oldestCreatingMs(): Promise<number> {
    const { clock, store } = this.#deps
    const oldest = await findOldestCreating(store.read)
    return oldest ? Math.max(0, clock.now() - oldest.createdAt) : 0
  }
}

function failingText(channel: string) {
  return {
    title: `No payment by the channel ${channel} works`,
    body: `The provider has opened none of the last ${FAILED_IN_A_ROW} payments. GET /payments?channel=${channel}&status=failed,creating shows their failed_reason, and the log the answers of the provider. Correct the keys of the channel, or wait until the provider can be reached; meanwhile offer another channel.`,
  }
}
