import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'

describePaymentChannelContract('alipay', () => openPayWorld('alipay'), {
  isKnownBeforeScan: false,
  signsTime: false,
  mayRefundFailLater: false,
  action: 'qr_code',
})
