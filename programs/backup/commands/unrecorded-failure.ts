import { lostNightTicket } from '../alerts/tickets.ts'
import { toFailure } from '../night/failure.ts'
import { localTime } from '../night/local-time.ts'
import type { NightOutcome } from '../night/night.ts'
import { EMPTY_STATE, nightOf, withOpenAlert, type BackupState, type OpenAlert } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import type { NightCall } from './night-call.ts'
import { remember } from './lock.ts'

const START = { name: 'start', errorCode: 'internal' } as const

/**
 * Reports that a call has failed which could not take its lock or write its state, unless the state names a reason why
 * there was nothing to do. The calls of such a date cannot be counted: every retry is a further failure, and the one at
 * the end of the window reports that the night is lost.
 */
export async function reportUnrecordedFailure(
  parts: BackupParts,
  error: unknown,
  call: NightCall,
): Promise<NightOutcome> {
  const { clock } = parts.runtime
  const { backup } = parts.config
  const state = readableState(parts)
  const { date, time } = localTime(clock.now(), backup.timeZone)
  const due = call.due?.(state, clock.now(), backup)
  // A missing run of this date in the state does not mean that there is nothing to retry: it could not be written.
  if (due?.action === 'nothing' && (!call.isRetry || state.run?.date === date))
    return { outcome: 'nothing', message: due.reason }
  const { errorCode, message, job } = toFailure(error, START, { at: clock.now(), isAborted: false })
  parts.logger.error({ error_code: errorCode, job }, message)
  const { failures, succeededAt } = nightOf(state, date)
  const alerts = parts.openAlerts()
  const variables = { error_code: errorCode, job_name: job, backup_type: 'full', backup_status: 'failed' }
  const isRepeated = call.isRetry || failures > 0
  await alerts.report(isRepeated ? 'backup_failed_again' : 'backup_failed', variables, [message])
  await rememberOpen(parts, 'failed')
  if (call.isRetry && time >= backup.windowEnd && succeededAt === undefined) {
    await alerts.report('night_lost', { ...variables, backup_status: 'critical' }, [message])
    await alerts.openTicket(lostNightTicket(date, message))
    await rememberOpen(parts, 'critical')
  }
  return { outcome: 'failed', message, errorCode }
}

/** The next success closes the alert. */
function rememberOpen(parts: BackupParts, alert: OpenAlert): Promise<void> {
  return remember(parts, 'the alert of the failure', (state) => ({
    ...state,
    openAlerts: withOpenAlert(state, alert),
  }))
}

/** The state, or an empty one if it cannot be read. */
export function readableState({ state }: BackupParts): BackupState {
  try {
    return state.read()
  } catch {
    return EMPTY_STATE
  }
}
