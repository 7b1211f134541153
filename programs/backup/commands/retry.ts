import { AppError } from '../../../src/kernel/errors.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import type { NightOutcome } from '../night/night.ts'
import { localTime } from '../night/local-time.ts'
import { dueForRetryLoop, type Due, type Schedule } from '../night/schedule.ts'
import { nightOf, withNight, type BackupState } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import { isLockHeld } from './lock.ts'
import { RETRY_CALL } from './night-call.ts'
import { nightResult } from './night-result.ts'
import type { CommandResult } from './result.ts'
import { requireDrive, runNight, runTimerCall, type RunOptions } from './run.ts'
import { readableState } from './unrecorded-failure.ts'

export interface RetryOptions extends RunOptions {
  readonly once?: boolean
}

/** `platform backup retry`: waits and tries until the night succeeds or its window ends; with `--once` tries now. */
export async function retryBackup(parts: BackupParts, options: RetryOptions): Promise<CommandResult> {
  await requireDrive(parts, options, RETRY_CALL)
  if (options.once)
    return nightResult(await runTimerCall(parts, options, RETRY_CALL), {
      isDryRun: parts.config.backup.dryRun,
    })
  let failedAt: number | undefined
  for (;;) {
    await waitUntilDue(parts, failedAt)
    const outcome = await tryNight(parts, options, failedAt)
    if (!outcome) {
      await pause(parts, 'waiting for the end of another run', MINUTE)
      continue
    }
    failedAt = parts.runtime.clock.now()
    if (!goesOn(parts, outcome, failedAt))
      return nightResult(outcome, { isDryRun: parts.config.backup.dryRun })
  }
}

/** Undefined while another call has the lock, such as that of the timer, which may fail itself. */
async function tryNight(
  parts: BackupParts,
  options: RunOptions,
  failedAt: number | undefined,
): Promise<NightOutcome | undefined> {
  try {
    return await runNight(parts, options, RETRY_CALL)
  } catch (error) {
    if (isLockHeld(error) && mayRetry(dueAfter(parts, failedAt))) return undefined
    throw error
  }
}

async function waitUntilDue(parts: BackupParts, failedAt: number | undefined): Promise<void> {
  for (;;) {
    const due = dueAfter(parts, failedAt)
    if (due.action !== 'wait') return
    await pause(parts, 'waiting for the next try', Math.min(due.milliseconds, MINUTE))
  }
}

async function pause({ runtime }: BackupParts, reason: string, milliseconds: number): Promise<void> {
  const { clock, signal, progress } = runtime
  progress(reason)
  await clock.wait(milliseconds, signal)
  if (signal?.aborted) throw new AppError('unavailable', 'interrupted', 'The retries were ended by a signal.')
}

/** A failure after the success of the backup, such as of the cleaning, is not repeated. */
function goesOn(parts: BackupParts, { outcome }: NightOutcome, failedAt: number): boolean {
  return outcome === 'failed' && mayRetry(dueAfter(parts, failedAt))
}

function mayRetry({ action }: Due): boolean {
  return action === 'wait' || action === 'retry'
}

/** What is due after a failure of this process. The state does not contain the failure if it could not be written. */
function dueAfter(parts: BackupParts, failedAt: number | undefined): Due {
  const { config, runtime } = parts
  const state = readableState(parts)
  const now = runtime.clock.now()
  return failedAt === undefined
    ? dueForRetryLoop(state, now, config.backup)
    : dueForRetryLoop(withFailure(state, failedAt, config.backup), now, config.backup, failedAt)
}

function withFailure(state: BackupState, failedAt: number, { timeZone }: Schedule): BackupState {
  const night = nightOf(state, localTime(failedAt, timeZone).date)
  return { ...state, nights: withNight(state, { ...night, failures: Math.max(1, night.failures) }) }
}
