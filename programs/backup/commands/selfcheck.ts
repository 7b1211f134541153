import { toRfc3339 } from '../../../src/kernel/time.ts'
import { selfcheckTicket } from '../alerts/tickets.ts'
import { readDriveSecrets } from '../drive/secrets-file.ts'
import { TokenFile } from '../drive/token-file.ts'
import { createPlatformReader } from '../host/platform-reader.ts'
import type { SelfCheck } from '../host/selfcheck/check.ts'
import { runSelfcheck } from '../host/selfcheck/run-selfcheck.ts'
import { selfcheckSteps } from '../host/selfcheck/steps.ts'
import { localTime } from '../night/local-time.ts'
import type { BackupState, PendingReboot } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import type { CommandResult } from './result.ts'

/** `platform backup selfcheck`: after a reboot by the routine it reports that the server is back, or that it is not. */
export async function selfcheck(parts: BackupParts): Promise<CommandResult> {
  const { logger, runtime } = parts
  const checks = await check(parts)
  for (const { name, ok, detail } of checks) logger[ok ? 'info' : 'error']({ check: name, ok }, detail)
  const passed = checks.every(({ ok }) => ok)
  const stored = parts.state.read()
  // An interrupted check says nothing about the server; the next boot or a person repeats it.
  const isConclusive = passed || !runtime.signal?.aborted
  if (stored.pendingReboot && isConclusive) await report(parts, stored, stored.pendingReboot, checks)
  else await parts.openAlerts().deliver()
  for (const { name, ok, detail } of checks) runtime.print(`${ok ? 'ok' : 'FAILED'} ${name}: ${detail}`)
  const text = passed ? 'the self-check has passed\n' : 'the self-check has failed\n'
  return { exitCode: passed ? 0 : 1, text, json: { passed, checks } }
}

async function check({ config, runtime }: BackupParts): Promise<SelfCheck[]> {
  const { clock, selfcheck: platform, signal, progress } = runtime
  const { drive, platformApi, selfcheckForMs } = config.backup
  const reader = createPlatformReader(clock)
  try {
    const steps = selfcheckSteps({
      ...platform,
      clock,
      platform: reader,
      platformApi,
      readDriveToken() {
        readDriveSecrets(drive.secretsFile)
        new TokenFile(drive.tokenFile).read()
      },
    })
    const onResult = ({ name, ok, detail }: SelfCheck) => progress(`${name}: ${ok ? 'ok' : detail}`)
    return await runSelfcheck({ clock, steps, forMs: selfcheckForMs, onResult, signal })
  } finally {
    reader.close()
  }
}

async function report(
  parts: BackupParts,
  stored: BackupState,
  { backupId }: PendingReboot,
  checks: readonly SelfCheck[],
): Promise<void> {
  const { runtime, config, state } = parts
  const alerts = parts.openAlerts()
  const now = runtime.clock.now()
  const failed = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
  if (failed.length > 0) {
    const { date } = localTime(now, config.backup.timeZone)
    await alerts.report('selfcheck_failed', { backup_id: backupId }, failed)
    await alerts.openTicket(selfcheckTicket(date, failed.join('\n')))
    return
  }
  await alerts.report('reboot_ended', {
    backup_id: backupId,
    recovery_time: toRfc3339(now),
    previous_level: 'HIGH',
    recovery_reason: `the self-check has passed: ${checks.map(({ name }) => name).join(', ')}`,
  })
  const { pendingReboot: _confirmed, ...others } = stored
  state.write(others)
}
