import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'

describePaymentChannelContract('wechatpay', () => openPayWorld('wechatpay'), {
  isKnownBeforeScan: true,
  signsTime: true,
  mayRefundFailLater: true,
  action: 'qr_code',
})
