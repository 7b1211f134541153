import { AppError } from '../../../src/kernel/errors.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import type { NightOutcome } from '../night/night.ts'
import { dueForRetryLoop } from '../night/schedule.ts'
import type { BackupParts } from '../parts.ts'
import { nightResult } from './night-result.ts'
import { requireDriveSettings } from './requirements.ts'
import type { CommandResult } from './result.ts'
import { RETRY_CALL, runNight, runTimerCall, type RunOptions } from './run.ts'

export interface RetryOptions extends RunOptions {
  readonly once?: boolean
}

/** `platform backup retry`: waits and tries until the night succeeds or its window ends; with `--once` tries now. */
export async function retryBackup(parts: BackupParts, options: RetryOptions): Promise<CommandResult> {
  requireDriveSettings(parts.runtime.loaded)
  if (options.once) return nightResult(await runTimerCall(parts, options, RETRY_CALL))
  for (;;) {
    await waitUntilDue(parts)
    const outcome = await runNight(parts, options, RETRY_CALL)
    if (!(await goesOn(parts, outcome))) return nightResult(outcome)
  }
}

async function waitUntilDue({ state, runtime, config }: BackupParts): Promise<void> {
  const { clock, signal, progress } = runtime
  for (;;) {
    const due = dueForRetryLoop(state.read(), clock.now(), config.backup)
    if (due.action !== 'wait') return
    progress('waiting for the next try')
    await clock.wait(Math.min(due.milliseconds, MINUTE), signal)
    if (signal?.aborted)
      throw new AppError('unavailable', 'interrupted', 'The retries were ended by a signal.')
  }
}

/** A failure after the success of the backup, such as of the cleaning, is not repeated. */
async function goesOn({ state, runtime, config }: BackupParts, outcome: NightOutcome): Promise<boolean> {
  if (outcome.outcome !== 'failed') return false
  const { action } = dueForRetryLoop(state.read(), runtime.clock.now(), config.backup)
  return action === 'wait' || action === 'retry'
}
