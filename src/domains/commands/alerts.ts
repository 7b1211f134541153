import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

const ENDED_BY =
  'The same command with the same parameters succeeds, its execution is removed after 90 days, or a person recovers it.'

/** The alerts of commands, for `docs/reference/alerts.md`. */
export const COMMAND_ALERTS = {
  'command.incomplete:*': {
    severities: ['ERROR'],
    raisedBy:
      'The worker of an execution was stopped or has died during the run; `*` is the id of the execution.',
    endedBy: ENDED_BY,
    whatToDo: 'Check what the command has done, and request it again if necessary.',
    repeatEveryMs: DAY,
  },
  'command.not_started:*': {
    severities: ['ERROR'],
    raisedBy: 'No worker begins an execution within `commands.start_within`; `*` is the id of the execution.',
    endedBy: ENDED_BY,
    whatToDo: 'Check that a worker runs and has the command in its configuration, and request it again.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
