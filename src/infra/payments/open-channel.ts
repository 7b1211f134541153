import type { Clock } from '../../kernel/clock.ts'
import type { ChannelKind, ChannelSettings, PaymentChannel } from '../../ports/payment-channel.ts'

interface ChannelDeps {
  readonly clock: Clock
  /** Whose days a bill is of, where the provider has none of its own. */
  readonly timeZone: string
}

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
