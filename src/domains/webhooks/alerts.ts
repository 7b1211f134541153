import type { AlertTable } from '../../kernel/declared-alerts.ts'
import { DAY } from '../../kernel/time.ts'

/** The alerts of webhooks, for `docs/reference/alerts.md`. */
export const WEBHOOK_ALERTS = {
  'webhook.disabled:*': {
    severities: ['ERROR'],
    raisedBy:
      'An endpoint has answered 410, or its calls have failed for 5 days and none succeeded; `*` is the id of the webhook.',
    endedBy: 'The webhook is enabled again, or deleted.',
    whatToDo:
      'Repair the endpoint, enable the webhook, and send what it has missed with `POST /webhooks/{id}/recover`.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
