import type { NightStep } from './step.ts'

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
