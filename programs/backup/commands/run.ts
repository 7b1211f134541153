import { rmSync } from 'node:fs'
import { AppError } from '../../../src/kernel/errors.ts'
import { Night, type NightOutcome } from '../night/night.ts'
import type { BackupParts } from '../parts.ts'
import { LOCK_HELD, withRunLock } from './lock.ts'
import { updateMetrics } from './metrics.ts'
import { nightResult } from './night-result.ts'
import { requireDriveSettings } from './requirements.ts'
import type { CommandResult } from './result.ts'
import { isFileSystemError, reportUnrecordedFailure } from './unrecorded-failure.ts'

export interface RunOptions {
  readonly scheduled?: boolean
  /** `--no-reboot` makes it false. */
  readonly reboot?: boolean
  readonly dryRun?: boolean
}

/** A call of the routine, and whether it repeats a failed one. */
interface NightCall {
  readonly isRetry: boolean
  make(night: Night): Promise<NightOutcome>
}

export const RETRY_CALL: NightCall = { isRetry: true, make: (night) => night.retryOnce() }

/** `platform backup run` */
export async function runBackup(parts: BackupParts, options: RunOptions): Promise<CommandResult> {
  requireDriveSettings(parts.runtime.loaded)
  if (options.scheduled)
    return nightResult(
      await runTimerCall(parts, options, { isRetry: false, make: (night) => night.runScheduled() }),
    )
  return nightResult(await runNight(parts, options, { isRetry: false, make: (night) => night.run() }))
}

/** A call of a timer. While another call is at work it has nothing to do, and no unit fails because of that. */
export async function runTimerCall(
  parts: BackupParts,
  options: RunOptions,
  call: NightCall,
): Promise<NightOutcome> {
  try {
    return await runNight(parts, options, call)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== LOCK_HELD) throw error
    return { outcome: 'nothing', message: error.message }
  }
}

/** Makes one call of the routine, under its lock, and writes the metrics. A call that cannot even begin is reported, too. */
export async function runNight(
  parts: BackupParts,
  { dryRun = false, reboot = true }: RunOptions,
  call: NightCall,
): Promise<NightOutcome> {
  const isDryRun = dryRun || parts.config.backup.dryRun
  try {
    return await withRunLock(parts, async () => {
      const deps = parts.nightDeps({ isDryRun })
      const outcome = await call.make(new Night(deps, { mayReboot: reboot }))
      if (isDryRun) rmSync(deps.settings.staging, { recursive: true, force: true })
      else updateMetrics(parts)
      return outcome
    })
  } catch (error) {
    if (isDryRun || !isFileSystemError(error)) throw error
    return reportUnrecordedFailure(parts, error, call)
  }
}
