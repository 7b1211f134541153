import type { AlertTable } from '../../src/kernel/alerts.ts'
import { DAY } from '../../src/kernel/time.ts'

/** The alerts of the nightly routine (docs/specification.md, Alerts of a night), for `docs/reference/alerts.md`. */
export const BACKUP_ALERTS = {
  'backup.start': {
    severities: ['INFO'],
    raisedBy: 'A backup begins.',
    endedBy: '24 hours: it is a notice.',
    whatToDo: 'Nothing.',
  },
  'backup.done': {
    severities: ['INFO'],
    raisedBy: 'A backup is stored and verified.',
    endedBy: '24 hours: it is a notice.',
    whatToDo: 'Nothing.',
  },
  'backup.failed': {
    severities: ['ERROR', 'HIGH'],
    raisedBy: 'A run fails; from the second failure of a date on it is HIGH.',
    endedBy: 'The next successful run.',
    whatToDo: 'Read `error_code` and the log. The routine tries again until 06:00.',
    repeatEveryMs: DAY,
  },
  'backup.failed.critical': {
    severities: ['CRITICAL'],
    raisedBy: 'There is no backup of this night at 06:00.',
    endedBy: 'The next successful run.',
    whatToDo: 'Work on the ticket, then run `platform backup run`.',
    repeatEveryMs: DAY,
  },
  'backup.retry': {
    severities: ['WARNING'],
    raisedBy: 'A retry succeeds after a failure.',
    endedBy: '24 hours: the backup is there.',
    whatToDo: 'Find out why the run before failed.',
    endsAfterMs: DAY,
  },
  'backup.clean': {
    severities: ['WARNING'],
    raisedBy: 'Cleaning begins.',
    endedBy: 'Cleaning ends, this time or the next one.',
    whatToDo: 'Nothing, unless it stays: then read the log of the routine.',
  },
  'system.reboot.init': {
    severities: ['HIGH'],
    raisedBy: 'The server is about to reboot.',
    endedBy: 'The server is back and passes its self-check, or the reboot could not be begun.',
    whatToDo: 'If it stays, check whether the server has booted, and run `platform backup selfcheck`.',
    repeatEveryMs: DAY,
  },
  'system.reboot.blocked': {
    severities: ['WARNING'],
    raisedBy: 'A gate holds the reboot back, or the reboot command fails.',
    endedBy: 'The next night whose reboot is not held back.',
    whatToDo: 'Remove what the alert names; until then the server is not rebooted.',
    repeatEveryMs: DAY,
  },
  'system.selfcheck.failed': {
    severities: ['CRITICAL'],
    raisedBy: 'The self-check after a reboot fails for 10 minutes.',
    endedBy: 'A self-check that passes.',
    whatToDo: 'Work on the ticket, then run `platform backup selfcheck`. Until then no reboot takes place.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
