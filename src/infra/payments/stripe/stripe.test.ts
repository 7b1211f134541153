import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'

describePaymentChannelContract('stripe', () => openPayWorld('stripe'), {
  isKnownBeforeScan: true,
  signsTime: true,
  mayRefundFailLater: true,
  action: 'redirect',
})
