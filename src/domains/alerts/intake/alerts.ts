import type { AlertTable } from '../../../kernel/alerts.ts'
import { HOUR } from '../../../kernel/time.ts'

/** The alerts about senders of alerts, for `docs/reference/alerts.md`. */
export const INTAKE_ALERTS = {
  'alertmanager.clock:*': {
    severities: ['WARNING'],
    raisedBy:
      'Three alerts within ten minutes from one sender had ended before they arrived; `*` is its address.',
    endedBy: 'No such alert comes from that sender for an hour.',
    whatToDo:
      'Compare the clocks of the two hosts: a sender whose clock is slow sends alerts that seem over.',
    endsAfterMs: HOUR,
  },
  'alertmanager.truncated': {
    severities: ['WARNING'],
    raisedBy: 'An Alertmanager leaves alerts out of a notification (`truncatedAlerts`).',
    endedBy: 'The next notification of each such group is whole, or the group is not heard of any more.',
    whatToDo: 'Raise `max_alerts` of the webhook, up to 1,000, or group by more labels.',
  },
} as const satisfies AlertTable
