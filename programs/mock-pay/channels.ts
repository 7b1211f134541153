export const CHANNELS = ['stripe', 'wechatpay', 'alipay'] as const
export type Channel = (typeof CHANNELS)[number]
