import type { ChannelKind, ChannelSettings, PaymentChannel } from '../../ports/payments.ts'
import type { ChannelDeps } from './settings.ts'

type CreateChannel = (settings: ChannelSettings, deps: ChannelDeps) => PaymentChannel

/** Only the adapters of configured channels are loaded. */
const ADAPTERS: Readonly<Record<ChannelKind, () => Promise<CreateChannel>>> = {
  stripe: async () => (await import('./stripe/index.ts')).createStripe,
  wechatpay: async () => (await import('./wechatpay/index.ts')).createWechatPay,
  alipay: async () => (await import('./alipay/index.ts')).createAlipay,
}

/** Opens a channel of payments; the caller ends it. */
export async function openChannel(settings: ChannelSettings, deps: ChannelDeps): Promise<PaymentChannel> {
  const create = await ADAPTERS[settings.kind]()
  return create(settings, deps)
}
