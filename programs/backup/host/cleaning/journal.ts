import { diskUsage } from './disk-usage.ts'
import { LINUX_PLACES, type RunStep } from './step.ts'

// The journal that is being written to stays: the reboot archives it, and the next night trims it.
const TRIM = ['journalctl', '--vacuum-time=7d']

/** Trims the system journal to 7 days. */
export const cleanJournal: RunStep = async ({ shell, signal, places = LINUX_PLACES }) => {
  const before = await diskUsage(places.journals, signal)
  const outcome = await shell.run(TRIM, { signal })
  if (outcome.status === 'missing') return { skipped: outcome.reason }
  if (outcome.status === 'failed') throw new Error(outcome.reason)
  return { freedBytes: Math.max(0, before - (await diskUsage(places.journals, signal))) }
}
