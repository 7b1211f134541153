import { rmSync } from 'node:fs'
import { ConfigError } from '../../../src/config/config-error.ts'
import { BackupError } from '../errors.ts'
import { isSystemError } from '../../files/system-error.ts'
import { Night, type NightOutcome } from '../night/night.ts'
import type { BackupParts } from '../parts.ts'
import { isLockHeld, withRunLock } from './lock.ts'
import { updateMetrics } from './metrics.ts'
import { MANUAL_CALL, SCHEDULED_CALL, type NightCall } from './night-call.ts'
import { nightResult } from './night-result.ts'
import { filesOpenToOthers, requireDriveSettings } from './requirements.ts'
import type { CommandResult } from './result.ts'
import { reportUnrecordedFailure } from './unrecorded-failure.ts'

export interface RunOptions {
  readonly scheduled?: boolean
  /** `--no-reboot` makes it false. */
  readonly reboot?: boolean
  readonly dryRun?: boolean
}

/** `platform backup run` */
export async function runBackup(parts: BackupParts, options: RunOptions): Promise<CommandResult> {
  const call = options.scheduled ? SCHEDULED_CALL : MANUAL_CALL
  await requireDrive(parts, options, call)
  const outcome = options.scheduled
    ? await runTimerCall(parts, options, call)
    : await runNight(parts, options, call)
  return nightResult(outcome, { isDryRun: isDry(parts, options) })
}

function isDry({ config }: BackupParts, { dryRun = false }: Pick<RunOptions, 'dryRun'>): boolean {
  return dryRun || config.backup.dryRun
}

/**
 * Throws a `ConfigError` if no drive is configured, or if other users can read its files. The latter is reported, too, because
 * nobody sees the error of a call at night.
 */
export async function requireDrive(
  parts: BackupParts,
  { dryRun = false }: Pick<RunOptions, 'dryRun'>,
  call: NightCall,
): Promise<void> {
  const { loaded } = parts.runtime
  const problems = filesOpenToOthers(loaded)
  if (problems.length > 0 && !isDry(parts, { dryRun })) {
    const { message } = new ConfigError(problems)
    await reportUnrecordedFailure(parts, new BackupError('token_unreadable', message), call)
  }
  requireDriveSettings(loaded)
}

/** Runs a call of a timer. While another call runs it has nothing to do, and its unit does not fail. */
export async function runTimerCall(
  parts: BackupParts,
  options: RunOptions,
  call: NightCall,
): Promise<NightOutcome> {
  try {
    return await runNight(parts, options, call)
  } catch (error) {
    if (!isLockHeld(error)) throw error
    return { outcome: 'nothing', message: error.message }
  }
}

/** Makes one call of the routine, under its lock, and writes the metrics. A call that cannot even begin is reported, too. */
export async function runNight(
  parts: BackupParts,
  { dryRun = false, reboot = true }: RunOptions,
  call: NightCall,
): Promise<NightOutcome> {
  const isDryRun = isDry(parts, { dryRun })
  try {
    return await withRunLock(parts, async () => {
      const deps = parts.nightDeps({ isDryRun })
      const outcome = await call.run(new Night(deps, { mayReboot: reboot }))
      if (isDryRun) rmSync(deps.settings.staging, { recursive: true, force: true })
      else updateMetrics(parts)
      return outcome
    })
  } catch (error) {
    if (isDryRun || !isUnrecorded(error)) throw error
    return reportUnrecordedFailure(parts, error, call)
  }
}

/** Whether a system error kept the call from taking its lock or writing its state: then the state does not contain the failure. */
function isUnrecorded(error: unknown): boolean {
  return isSystemError(error) || (error instanceof BackupError && isSystemError(error.cause))
}
