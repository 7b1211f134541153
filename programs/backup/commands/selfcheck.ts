import { toRfc3339 } from '../../../src/kernel/time.ts'
import type { NightAlerts } from '../alerts/night-alerts.ts'
import { selfcheckTicket } from '../alerts/tickets.ts'
import { readDriveSecrets } from '../drive/secrets-file.ts'
import { TokenFile } from '../drive/token-file.ts'
import { createPlatformReader } from '../host/platform-reader.ts'
import { type SelfCheck, runSelfcheck, selfcheckSteps } from '../host/selfcheck.ts'
import { callSigner } from '../host/signed-call.ts'
import { localTime } from '../night/local-time.ts'
import { withOpenAlert, type PendingReboot } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'
import { remember } from './lock.ts'
import type { CommandResult } from './result.ts'

/** `platform backup selfcheck`: after a reboot by the routine it reports that the server is back, or that it is not. */
export async function selfcheck(parts: BackupParts): Promise<CommandResult> {
  const { logger, runtime } = parts
  const checks = await check(parts)
  for (const { name, ok, detail } of checks) logger[ok ? 'info' : 'error']({ check: name, ok }, detail)
  const passed = checks.every(({ ok }) => ok)
  // An interrupted check says nothing about the server; the next boot or a person repeats it.
  const isConclusive = passed || !runtime.signal?.aborted
  const alerts = parts.openAlerts()
  if (isConclusive) await report(parts, alerts, checks)
  await alerts.deliver()
  for (const { name, ok, detail } of checks) runtime.print(`${ok ? 'ok' : 'FAILED'} ${name}: ${detail}`)
  const text = passed ? 'the self-check has passed\n' : 'the self-check has failed\n'
  return { exitCode: passed ? 0 : 1, text, json: { passed, checks } }
}

async function check({ config, runtime }: BackupParts): Promise<SelfCheck[]> {
  const { clock, selfcheck: platform, signal, progress } = runtime
  const { drive, platformApi, selfcheckForMs } = config.backup
  const reader = createPlatformReader(clock, callSigner(config, clock))
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

/** Reports whether the server is back after a reboot by the routine. */
async function report(parts: BackupParts, alerts: NightAlerts, checks: readonly SelfCheck[]): Promise<void> {
  const { pendingReboot, openAlerts } = parts.state.read()
  const failed = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
  if (failed.length > 0) {
    if (pendingReboot) await reportFailure(parts, alerts, { ...pendingReboot, failed })
    return
  }
  const { runtime } = parts
  if (pendingReboot)
    await alerts.report('reboot_ended', {
      backup_id: pendingReboot.backupId,
      recovery_time: toRfc3339(runtime.clock.now()),
      previous_level: 'HIGH',
      recovery_reason: `the self-check has passed: ${checks.map(({ name }) => name).join(', ')}`,
    })
  if (openAlerts.includes('selfcheck')) await alerts.report('selfcheck_closed', {})
  if (!pendingReboot && !openAlerts.includes('selfcheck')) return
  await remember(parts, 'the self-check', ({ pendingReboot: _confirmed, ...others }) => ({
    ...others,
    openAlerts: others.openAlerts.filter((alert) => alert !== 'selfcheck'),
  }))
}

async function reportFailure(
  parts: BackupParts,
  alerts: NightAlerts,
  { backupId, failed }: PendingReboot & { readonly failed: readonly string[] },
): Promise<void> {
  const { runtime, config } = parts
  const { date } = localTime(runtime.clock.now(), config.backup.timeZone)
  await alerts.report('selfcheck_failed', { backup_id: backupId }, failed)
  await alerts.openTicket(selfcheckTicket(date, failed.join('\n')))
  await remember(parts, 'the self-check', (state) => ({
    ...state,
    openAlerts: withOpenAlert(state, 'selfcheck'),
  }))
}
