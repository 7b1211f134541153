import type { NightStep } from './step.ts'
import { toRfc3339 } from '../../../../src/kernel/time.ts'
import { BackupError } from '../../errors.ts'
import type { ClosedGate } from '../../host/gates.ts'
import type { RunContext } from '../run-context.ts'

/** Cleans the caches of this server. A failure does not take the success of the backup back. */
export const cleanStep: NightStep = {
  name: 'clean',
  reaches: 'cleaned',
  errorCode: 'clean_failed',
  async run(context) {
    const { host, alerts, logger, progress, signal } = context.deps
    if (host.cleaningSteps.length === 0) return
    progress('cleaning')
    await alerts.report('cleaning_started', context.variables())
    const { steps, failure } = await host.clean(signal)
    for (const { step, freedBytes, text } of steps) logger.info({ step, freed_bytes: freedBytes }, text)
    const lines = steps.map(({ text }) => text)
    await alerts.report('cleaning_ended', { ...context.variables(), backup_status: 'cleaned' }, lines)
    context.update({
      freedBytes: Object.fromEntries(steps.map(({ step, freedBytes }) => [step, freedBytes])),
    })
    if (failure) throw failure
  },
}

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
