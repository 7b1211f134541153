import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of messages, for `docs/reference/alerts.md`. */
export const MESSAGE_ALERTS = {
  'message.dead:*': {
    severities: ['ERROR'],
    raisedBy: 'The bus refuses a message for good; `*` is its id.',
    endedBy: 'The message is redriven. If the bus refuses it again, the alert is raised again.',
    whatToDo: 'Remove the cause that the alert names, then redrive the message.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
