import type { Dispatcher } from 'undici'
import type { ChannelKind, ChannelSettings, PaymentChannel } from '../../ports/payments.ts'
import type { Clock } from '../../kernel/clock.ts'

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

export interface ChannelDeps {
  readonly clock: Clock
  /** Whose days a bill is of, where the provider has no days of its own: Stripe. UTC by default. */
  readonly timeZone?: string
  /** Replaces the connections of the channel; the caller closes it. */
  readonly dispatcher?: Dispatcher
}

/** The value of a variable of the secrets file. The configuration has checked that each is there. */
export function secretOf({ name, secrets }: ChannelSettings, variable: string): string {
  const value = secrets[variable]
  if (value === undefined || value === '')
    throw new Error(`payments.channels.${name}: expected ${variable} in its secrets file, found none`)
  return value
}
