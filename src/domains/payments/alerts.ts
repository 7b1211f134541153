import { HOUR, DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/alerts.ts'

const ENDED_BY = 'The payment is refunded in full, or somebody resolves it (`POST /payments/{id}/resolve`).'

/** The alerts of payments, for `docs/reference/alerts.md`. */
export const PAYMENT_ALERTS = {
  'payment.late:*': {
    severities: ['ERROR'],
    raisedBy: 'A payment was paid after its order had ended otherwise; `*` is the id of the payment.',
    endedBy: ENDED_BY,
    whatToDo: 'Refund it, or serve the customer in another way and resolve it.',
    repeatEveryMs: DAY,
  },
  'payment.duplicate:*': {
    severities: ['ERROR'],
    raisedBy: 'An order was paid twice; `*` is the id of the second payment.',
    endedBy: ENDED_BY,
    whatToDo: 'Refund the second payment.',
    repeatEveryMs: DAY,
  },
  'payment.amount_mismatch:*': {
    severities: ['HIGH'],
    raisedBy:
      'Another amount was paid than the order has, so the order stays pending; `*` is the id of the payment.',
    endedBy: ENDED_BY,
    whatToDo:
      'Compare the payment at the provider, then refund it, or move the order by hand and resolve it.',
    repeatEveryMs: DAY,
  },
  'payment.unknown_order:*': {
    severities: ['ERROR'],
    raisedBy:
      'Money came with the mark of this platform for a payment that it does not have, such as after a restore.',
    endedBy: ENDED_BY,
    whatToDo: 'Find the customer by the number at the provider, refund there or here, and resolve it.',
    repeatEveryMs: DAY,
  },
  'payment.refund_failed:*': {
    severities: ['ERROR'],
    raisedBy: 'A refund has failed, was taken back, or has no outcome; `*` is the id of the payment.',
    endedBy:
      'A refund that was requested after that succeeds, the payment is refunded in full, or somebody resolves the payment.',
    whatToDo: 'Look at the refund at the provider, then refund again or resolve the payment.',
    repeatEveryMs: DAY,
  },
  'payment.channel_failing:*': {
    severities: ['HIGH'],
    raisedBy:
      'The provider has opened none of the last 5 payments of a channel, of those of a day; `*` is the channel. Reported again every hour.',
    endedBy:
      'The provider opens a payment, or 3 hours without another report: nobody has tried for a day, or the channel is gone.',
    whatToDo:
      'Look at `failed_reason` of the payments and at the log; `When a channel fails` of the guide to payments has the causes. Meanwhile offer another channel.',
    endsAfterMs: 3 * HOUR,
    repeatEveryMs: DAY,
  },
  'payment.bad_signature:*': {
    severities: ['WARNING'],
    raisedBy:
      'A callback of a channel has a wrong signature, which each process reports once an hour at most; `*` is the channel.',
    endedBy: '3 hours without another one.',
    whatToDo:
      'Compare the keys of the channel with those of the provider. If they are right, somebody forges callbacks.',
    endsAfterMs: 3 * HOUR,
  },
  'payment.reconciliation:*': {
    severities: ['ERROR'],
    raisedBy:
      'The books of a provider differ from the payments of a day, or have no bill; `*` is the channel.',
    endedBy: 'A later reconciliation of each such day matches.',
    whatToDo: 'Look at the differences of the reconciliation, correct them, and reconcile the day again.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
