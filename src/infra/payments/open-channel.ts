import type { ChannelKind, ChannelSettings, PaymentChannel } from '../../ports/payment-channel.ts'
import type { ChannelDeps } from './settings.ts'

interface Adapter {
  create(settings: ChannelSettings, deps: ChannelDeps): PaymentChannel | Promise<PaymentChannel>
}

/** Only the adapters of configured channels are loaded. */
const ADAPTERS: Readonly<Record<ChannelKind, () => Promise<Adapter>>> = {
  stripe: () => import('./stripe/index.ts'),
  wechatpay: () => import('./wechatpay/index.ts'),
  alipay: () => import('./alipay/index.ts'),
}

/** Opens a channel of payments; the caller ends it. */
export async function openChannel(settings: ChannelSettings, deps: ChannelDeps): Promise<PaymentChannel> {
  const { create } = await ADAPTERS[settings.kind]()
  return create(settings, deps)
}
