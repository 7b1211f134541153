import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of orders, for `docs/reference/alerts.md`. */
export const ORDER_ALERTS = {
  'order.timeout:*': {
    severities: ['WARNING'],
    raisedBy: 'An order expires; `*` is its id.',
    endedBy: '24 hours: it is a notice, for the order stays expired.',
    whatToDo: 'Nothing, unless many orders expire: then check the payments.',
    endsAfterMs: DAY,
  },
} as const satisfies AlertTable
