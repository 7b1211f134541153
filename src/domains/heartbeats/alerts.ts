import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of heartbeats, for `docs/reference/alerts.md`. */
export const HEARTBEAT_ALERTS = {
  'heartbeat.missed:*': {
    severities: ['CRITICAL', 'HIGH', 'ERROR', 'WARNING', 'INFO'],
    raisedBy:
      'No beat comes in time, a run takes too long, or a ping says that it has failed; `*` is the name of the heartbeat, which has the severity.',
    endedBy: 'The next beat, or the heartbeat is deleted.',
    whatToDo: 'Check the program that should send the beats.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
