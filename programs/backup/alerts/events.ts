import type { BACKUP_ALERTS } from '../declared-alerts.ts'

/** Levels of alerts, with their weights (docs/specification.md, Alerts). */
export const NIGHT_WEIGHTS = { CRITICAL: 6, HIGH: 5, ERROR: 4, WARNING: 3, INFO: 2, CLOSE: 0 } as const

export type NightLevel = keyof typeof NIGHT_WEIGHTS

/** The alert of an event; a template of the configuration may replace its texts. */
export interface NightAlert {
  readonly alarmId: keyof typeof BACKUP_ALERTS
  readonly level: NightLevel
  readonly title: string
  readonly body: string
}

const RECOVERY =
  'server_name: ${server_name}\nrecovery_time: ${recovery_time}\nprevious_level: ${previous_level}\n' +
  'recovery_reason: ${recovery_reason}'

const RECOVERED = 'Job ${job_name} on ${server_name} has succeeded: ${backup_size} at ${target_path}.'

/** The alerts of a night (docs/specification.md, Alerts of a night). */
export const NIGHT_ALERTS = {
  backup_started: {
    alarmId: 'backup.start',
    level: 'INFO',
    title: 'Backup ${backup_id} has begun',
    body: 'Job ${job_name} on ${server_name}, begun at ${backup_time}: ${source_path} is backed up.',
  },
  backup_succeeded: {
    alarmId: 'backup.done',
    level: 'INFO',
    title: 'Backup ${backup_id} has succeeded',
    body:
      'Job ${job_name} on ${server_name}, begun at ${backup_time}: ${backup_size} are stored and verified at ' +
      '${target_path}.',
  },
  backup_failed: {
    alarmId: 'backup.failed',
    level: 'ERROR',
    title: 'Backup ${backup_id} has failed: ${error_code}',
    body:
      'Job ${job_name} on ${server_name}, begun at ${backup_time}, has failed: error_code ${error_code}. The last success was ' +
      '${last_success_time}. The window began at ${backup_window_start}.',
  },
  backup_failed_again: {
    alarmId: 'backup.failed',
    level: 'HIGH',
    title: 'Backup ${backup_id} has failed again: ${error_code}',
    body:
      'Job ${job_name} on ${server_name}, begun at ${backup_time}, has failed again: error_code ${error_code}. The last success was ' +
      '${last_success_time}. The window began at ${backup_window_start}.',
  },
  retry_succeeded: {
    alarmId: 'backup.retry',
    level: 'WARNING',
    title: 'A retry of backup ${backup_id} has succeeded',
    body: 'Job ${job_name} on ${server_name} has succeeded after a failure: ${backup_size} at ${target_path}.',
  },
  failure_closed: {
    alarmId: 'backup.failed',
    level: 'CLOSE',
    title: 'The backup works again: ${backup_id}',
    body: RECOVERED,
  },
  night_lost: {
    alarmId: 'backup.failed.critical',
    level: 'CRITICAL',
    title: 'There is no backup of this night: ${error_code}',
    body:
      'Job ${job_name} on ${server_name} failed until the end of the window, at last with error_code ${error_code}. ' +
      'The last success was ${last_success_time}. There are no more automatic retries; a ticket is open.',
  },
  lost_night_closed: {
    alarmId: 'backup.failed.critical',
    level: 'CLOSE',
    title: 'There is a backup again: ${backup_id}',
    body: RECOVERED,
  },
  cleaning_started: {
    alarmId: 'backup.clean',
    level: 'WARNING',
    title: 'Cleaning has begun',
    body: 'Backup ${backup_id} is verified; caches on ${server_name} are cleaned.',
  },
  cleaning_ended: {
    alarmId: 'backup.clean',
    level: 'CLOSE',
    title: 'Cleaning has ended',
    body: 'Caches on ${server_name} were cleaned after backup ${backup_id}.',
  },
  reboot_started: {
    alarmId: 'system.reboot.init',
    level: 'HIGH',
    title: '${server_name} reboots',
    body: '${server_name} reboots after backup ${backup_id}. A report that it is back follows.',
  },
  reboot_ended: {
    alarmId: 'system.reboot.init',
    level: 'CLOSE',
    title: '${server_name} is back',
    body: RECOVERY,
  },
  reboot_not_begun: {
    alarmId: 'system.reboot.init',
    level: 'CLOSE',
    title: '${server_name} was not rebooted',
    body: RECOVERY,
  },
  selfcheck_failed: {
    alarmId: 'system.selfcheck.failed',
    level: 'CRITICAL',
    title: 'The self-check of ${server_name} has failed',
    body: '${server_name} does not pass its self-check after the reboot; a ticket is open.',
  },
  selfcheck_closed: {
    alarmId: 'system.selfcheck.failed',
    level: 'CLOSE',
    title: 'The self-check of ${server_name} passes again',
    body: '${server_name} passes its self-check.',
  },
  reboot_blocked: {
    alarmId: 'system.reboot.blocked',
    level: 'WARNING',
    title: 'The reboot of ${server_name} was held back',
    body: 'Backup ${backup_id} has succeeded; ${server_name} was not rebooted.',
  },
  reboot_allowed: {
    alarmId: 'system.reboot.blocked',
    level: 'CLOSE',
    title: 'The reboot of ${server_name} is not held back any more',
    body: 'Backup ${backup_id} has succeeded, and no gate holds the reboot of ${server_name} back.',
  },
} as const satisfies Readonly<Record<string, NightAlert>>

export type NightEvent = keyof typeof NIGHT_ALERTS
