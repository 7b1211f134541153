import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { HOUR } from '../../kernel/time.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { PaymentChannel } from '../../ports/payments.ts'
import type { Store } from '../../store/store.ts'
import { PAYMENT_ALERTS } from './alerts.ts'
import { FAILED_IN_A_ROW, FAILING_WITHIN_MS, isChannelFailing } from './model.ts'
import { listLatest, oldestCreatingAt } from './store.ts'

interface HealthOptions {
  readonly store: Store
  readonly clock: Clock
  readonly alerts: RecoverableAlerts
  readonly channels: ReadonlyMap<string, PaymentChannel>
}

const FAILING_AGAIN_MS = HOUR
// Payments that say nothing may lie between those that do.
const EXAMINED_PAYMENTS = 20

/** Whether the payments of each channel work, and how long one has been unclear. */
export class ChannelHealth {
  readonly #options: HealthOptions
  /** What this process has reported of each channel, and when. */
  readonly #reported = new Map<string, { readonly isFailing: boolean; readonly at: number }>()

  constructor(options: HealthOptions) {
    this.#options = options
  }

  /** The channels whose provider has opened none of the last payments. */
  async failingChannels(names: readonly string[] = [...this.#options.channels.keys()]): Promise<string[]> {
    const { clock, store } = this.#options
    const now = clock.now()
    const failing: string[] = []
    for (const channel of names) {
      const latest = { channel, since: now - FAILING_WITHIN_MS, limit: EXAMINED_PAYMENTS }
      if (isChannelFailing(await listLatest(store.read, latest), now)) failing.push(channel)
    }
    return failing
  }

  /** Raises or ends the alert about each channel; returns those that fail. What is known already is reported once an hour. */
  async reportFailing(): Promise<ReadonlySet<string>> {
    const { alerts, channels, clock, store } = this.#options
    const failing = new Set(await this.failingChannels())
    const now = clock.monotonic()
    for (const channel of channels.keys()) {
      const isFailing = failing.has(channel)
      const last = this.#reported.get(channel)
      const isFresh = last?.isFailing === isFailing && (!isFailing || now - last.at < FAILING_AGAIN_MS)
      if (isFresh) continue
      await store.write((tx) =>
        isFailing
          ? alerts.raise(tx, failingAlert(channel))
          : alerts.recoverIfRaised(tx, workingAlert(channel)),
      )
      this.#reported.set(channel, { isFailing, at: now })
    }
    return failing
  }

  /** How long the creation of the oldest unclear payment has been unclear, in milliseconds; 0 if there is none. */
  async oldestCreatingMs(): Promise<number> {
    const at = await oldestCreatingAt(this.#options.store.read)
    return at === undefined ? 0 : Math.max(0, this.#options.clock.now() - at)
  }
}

function failingAlert(channel: string) {
  return {
    alarmId: declaredAlarmId(PAYMENT_ALERTS, 'payment.channel_failing:*', channel),
    source: 'platform.payments',
    title: `No payment by the channel ${channel} works`,
    body: `The provider has opened none of the last ${FAILED_IN_A_ROW} payments. GET /payments?channel=${channel}&status=failed,creating shows their failed_reason, and the log the answers of the provider. Correct the keys of the channel, or wait until the provider can be reached; meanwhile offer another channel.`,
    severity: 'HIGH',
  } as const
}

function workingAlert(channel: string) {
  return {
    alarmId: declaredAlarmId(PAYMENT_ALERTS, 'payment.channel_failing:*', channel),
    source: 'platform.payments',
    title: `Payments by the channel ${channel} work again`,
    body: 'The provider has opened one.',
  }
}
