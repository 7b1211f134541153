import { MINUTE } from '../../../src/kernel/time.ts'
import { localTime } from './local-time.ts'
import { hasReached, nightOf, type BackupState } from './state.ts'

/** When runs and retries may begin, in local time. */
export interface Schedule {
  readonly timeZone: string
  /** `HH:MM` */
  readonly windowStart: string
  /** `HH:MM` */
  readonly windowEnd: string
  readonly retryEveryMs: number
}

/** What a call has to do. `lost`: the window is over, and the date has no backup. */
export type Due =
  | { readonly action: 'run' | 'retry' | 'lost' }
  | { readonly action: 'wait'; readonly milliseconds: number }
  | { readonly action: 'nothing'; readonly reason: string }

const nothingDue = (reason: string): Due => ({ action: 'nothing', reason })

/** What `run --scheduled` has to do: a run once per local date, inside the window. */
export function dueForSchedule(state: BackupState, now: number, schedule: Schedule): Due {
  const { date, time } = localTime(now, schedule.timeZone)
  if (hasSucceeded(state, date)) return nothingDue(`the backup of ${date} has succeeded already`)
  if (time >= schedule.windowEnd)
    return nothingDue(`the window of ${date} is over since ${schedule.windowEnd}`)
  if (time < schedule.windowStart)
    return nothingDue(`the window of ${date} begins at ${schedule.windowStart}, and it is ${time}`)
  const run = state.run?.date === date ? state.run : undefined
  // A run that is still marked as running was killed, because the caller has the lock.
  if (run?.status === 'failed') return nothingDue(`the run of ${date} has failed; its retries go on with it`)
  return { action: 'run' }
}

/** What `retry --once` has to do: nothing until today's run has failed, then a retry, after the window its end. */
export function dueForRetry(state: BackupState, now: number, schedule: Schedule): Due {
  const { date, time } = localTime(now, schedule.timeZone)
  const run = state.run?.date === date ? state.run : undefined
  const hasFailed = run !== undefined && run.status !== 'done' && !hasReached(run, 'succeeded')
  const isInWindow = time < schedule.windowEnd
  // A second backup of a date that a person has started is repeated, too, but the date is not lost if it fails.
  if (hasSucceeded(state, date) && !(hasFailed && isInWindow))
    return nothingDue(`the backup of ${date} has succeeded`)
  const { failures, lostAt } = nightOf(state, date)
  if (failures === 0 && !hasFailed) return nothingDue(`no run of ${date} has failed`)
  if (isInWindow) return { action: 'retry' }
  if (lostAt !== undefined) return nothingDue(`the night of ${date} is lost, and that was reported`)
  return { action: 'lost' }
}

const LONGEST_WAIT_MS = MINUTE

/** The same for `retry`, which waits from one failure to the next try. A wait is short, because clocks are set meanwhile. */
export function dueForRetryLoop(
  state: BackupState,
  now: number,
  schedule: Schedule,
  failedAt = state.run?.failure?.at,
): Due {
  const due = dueForRetry(state, now, schedule)
  if (due.action !== 'retry' || failedAt === undefined) return due
  const left = failedAt + schedule.retryEveryMs - now
  // If the clock was set back, the failure is in the future.
  if (left <= 0 || left > schedule.retryEveryMs) return due
  return { action: 'wait', milliseconds: Math.min(left, LONGEST_WAIT_MS) }
}

function hasSucceeded(state: BackupState, date: string): boolean {
  return nightOf(state, date).succeededAt !== undefined
}
