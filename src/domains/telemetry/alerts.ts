import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of telemetry, for `docs/reference/alerts.md`. */
export const TELEMETRY_ALERTS = {
  'telemetry.refused': {
    severities: ['ERROR'],
    raisedBy: 'The bus refuses telemetry for good.',
    endedBy:
      'The bus takes telemetry of each agent again whose telemetry it has refused, or has refused none for 24 hours.',
    whatToDo: 'Remove the cause that the alert names, then redrive the dead messages.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
