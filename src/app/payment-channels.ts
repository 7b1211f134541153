import type { Config } from '../config/config.ts'
import { readChannelSecrets, type PaymentChannelConfig } from '../config/payments.ts'
import { systemClock } from '../kernel/clock.ts'
import type { PaymentChannel } from '../ports/payments.ts'

/**
 * The configured payment channels by name, for a process with the api or the worker; `resources` ends them. Throws a
 * {@link ConfigError} for secrets that cannot be used.
 */
export async function openChannels(
  config: Config,
  resources: AsyncDisposableStack,
): Promise<ReadonlyMap<string, PaymentChannel>> {
  const channels = new Map<string, PaymentChannel>()
  if (!config.modules.some((module) => module !== 'gateway')) return channels
  for (const each of config.payments.channels) {
    const channel = await openConfigured(config, each)
    resources.defer(() => channel.end())
    channels.set(each.name, channel)
  }
  return channels
}

/** One channel; the caller ends it. */
export async function openConfigured(config: Config, channel: PaymentChannelConfig): Promise<PaymentChannel> {
  const secrets = readChannelSecrets(channel)
  const { currency, publicUrl = '', timeZone } = config.payments
  const { name, kind, apiUrl } = channel
  const callbackUrl = `${publicUrl}/payments/callbacks/${name}`
  // Only an installation with channels loads them.
  const { openChannel } = await import('../infra/payments/channels.ts')
  return openChannel({ name, kind, apiUrl, currency, callbackUrl, secrets }, { clock: systemClock, timeZone })
}
