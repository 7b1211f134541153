import { lostNightTicket } from '../alerts/tickets.ts'
import { toFailure } from '../night/failure.ts'
import { localTime } from '../night/local-time.ts'
import type { NightOutcome } from '../night/night.ts'
import { EMPTY_STATE, nightOf, type BackupState } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'

const START = { name: 'start', errorCode: 'internal' } as const

/** An error of the file system, as on a full or a read-only disk. */
export function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/**
 * Reports that a call has failed which could not take its lock or write its state. The calls of such a date cannot be
 * counted: every retry is a further failure, and the one at the end of the window reports that the night is lost.
 */
export async function reportUnrecordedFailure(
  parts: BackupParts,
  error: unknown,
  { isRetry }: { readonly isRetry: boolean },
): Promise<NightOutcome> {
  const { clock } = parts.runtime
  const { timeZone, windowEnd } = parts.config.backup
  const { date, time } = localTime(clock.now(), timeZone)
  const { errorCode, message, job } = toFailure(error, START, { at: clock.now(), isAborted: false })
  parts.logger.error({ error_code: errorCode, job }, message)
  const hasBackup = nightOf(readableState(parts), date).succeededAt !== undefined
  if (!hasBackup) {
    const alerts = parts.openAlerts()
    const variables = { error_code: errorCode, job_name: job, backup_type: 'full', backup_status: 'failed' }
    await alerts.report(isRetry ? 'backup_failed_again' : 'backup_failed', variables, [message])
    if (isRetry && time >= windowEnd) {
      await alerts.report('night_lost', { ...variables, backup_status: 'critical' }, [message])
      await alerts.openTicket(lostNightTicket(date, message))
    }
  }
  return { outcome: 'failed', message, errorCode }
}

function readableState({ state }: BackupParts): BackupState {
  try {
    return state.read()
  } catch {
    return EMPTY_STATE
  }
}
