import type { Config } from '../config/config.ts'
import { readChannelSecrets, type PaymentChannelConfig } from '../config/payments.ts'
import { isOnlyGateway } from '../config/value-types.ts'
import { systemClock } from '../kernel/clock.ts'
import type { ChannelDeps } from '../infra/payments/provider-connection.ts'
import type { ChannelKind, ChannelSettings, PaymentChannel } from '../ports/payments.ts'

type CreateChannel = (settings: ChannelSettings, deps: ChannelDeps) => PaymentChannel

/** Only the adapters of configured channels are loaded. */
const ADAPTERS: Readonly<Record<ChannelKind, () => Promise<CreateChannel>>> = {
  stripe: async () => (await import('../infra/payments/stripe/index.ts')).createStripe,
  wechatpay: async () => (await import('../infra/payments/wechatpay/index.ts')).createWechatPay,
  alipay: async () => (await import('../infra/payments/alipay/index.ts')).createAlipay,
}

/**
 * The configured payment channels by name, for a process with the api or the worker; `resources` ends them. Throws a
 * {@link ConfigError} for secrets that cannot be used.
 */
export async function openChannels(
  config: Config,
  resources: AsyncDisposableStack,
): Promise<ReadonlyMap<string, PaymentChannel>> {
  const channels = new Map<string, PaymentChannel>()
  if (isOnlyGateway(config.modules)) return channels
  for (const configured of config.payments.channels) {
    const channel = await openConfigured(config, configured)
    resources.defer(() => channel.end())
    channels.set(configured.name, channel)
  }
  return channels
}

/** One channel; the caller ends it. */
export async function openConfigured(config: Config, channel: PaymentChannelConfig): Promise<PaymentChannel> {
  const secrets = readChannelSecrets(channel)
  const { currency, publicUrl = '', timeZone } = config.payments
  const { name, kind, apiUrl } = channel
  const callbackUrl = `${publicUrl}/payments/callbacks/${name}`
  const create = await ADAPTERS[kind]()
  return create({ name, kind, apiUrl, currency, callbackUrl, secrets }, { clock: systemClock, timeZone })
}
