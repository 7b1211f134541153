/** docs/specification.md, Events */
export const PAYMENT_EVENTS = {
  created: 'payment.created',
  paid: 'payment.paid',
  failed: 'payment.failed',
  closed: 'payment.closed',
  refunded: 'payment.refunded',
  attention: 'payment.attention',
  reconciled: 'payment.reconciled',
} as const
