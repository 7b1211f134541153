import { DAY } from '../../kernel/time.ts'
import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of data backups, for `docs/reference/alerts.md`. */
export const DATA_BACKUP_ALERTS = {
  'data.backup.failed': {
    severities: ['ERROR'],
    raisedBy: 'A data backup fails.',
    endedBy: 'The next completed backup, or the last failed one is deleted.',
    whatToDo: 'Remove the cause that the alert names, and make a backup.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
