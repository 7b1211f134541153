import { toRfc3339 } from '../../../../src/kernel/time.ts'
import { BackupError } from '../../errors.ts'
import type { ClosedGate } from '../../host/gates.ts'
import type { RunContext } from '../run-context.ts'

export const REBOOT_JOB = 'reboot'

/** Asks the gates and reboots. Resolves with what holds the reboot back. Throws when it could not be begun. */
export async function rebootServer(context: RunContext): Promise<ClosedGate | undefined> {
  const { host, alerts, logger, clock, progress } = context.deps
  progress('asking the gates of the reboot')
  const { rebootedOn } = context.state
  const closed = await host.closedGate({ isVerified: true, rebootedOn })
  if (closed) {
    logger.warn({ gate: closed.gate, reason: closed.reason }, 'the reboot is held back')
    await reportBlocked(context, `${closed.gate}: ${closed.reason}`)
    return closed
  }
  if (context.state.rebootIsBlocked) await alerts.report('reboot_allowed', context.variables(REBOOT_JOB))
  // Before the command: it may end this process at once.
  context.update({
    run: { ...context.run, status: 'done', reached: 'rebooting', job: REBOOT_JOB },
    pendingReboot: { backupId: context.run.backupId, at: clock.now() },
    rebootedOn: context.today,
    rebootIsBlocked: false,
  })
  await alerts.report('reboot_started', context.variables(REBOOT_JOB))
  logger.info({ backup_id: context.run.backupId }, 'the server reboots')
  const reason = await host.reboot()
  if (reason !== undefined) await reportFailedReboot(context, reason)
  return undefined
}

/** Stores the reason in the state first, so that the alert about it is closed later. */
async function reportBlocked(context: RunContext, reason: string): Promise<void> {
  context.update({ rebootIsBlocked: true })
  await context.deps.alerts.report('reboot_blocked', context.variables(REBOOT_JOB), [reason])
}

async function reportFailedReboot(context: RunContext, reason: string): Promise<never> {
  const { alerts, clock } = context.deps
  const { pendingReboot: _pending, rebootedOn: _date, ...others } = context.state
  context.replaceState(others)
  await alerts.report('reboot_not_begun', {
    ...context.variables(REBOOT_JOB),
    recovery_time: toRfc3339(clock.now()),
    previous_level: 'HIGH',
    recovery_reason: `there was no reboot: ${reason}`,
  })
  await reportBlocked(context, `reboot_command: ${reason}`)
  throw new BackupError('internal', `The server was not rebooted: ${reason}`)
}
