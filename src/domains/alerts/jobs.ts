import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import { ALERT_STATUSES } from './model.ts'
import type { Alerts } from './service.ts'
import type { Silences } from './silences/service.ts'

const CHANGE_EVERY_MS = 5 * SECOND
const COUNT_EVERY_MS = 30 * SECOND
// Small batches let other writes run in between.
const CHANGE_BATCH = 50
const PRUNE_BATCH = 100

/** Changes alerts whose time has come: acknowledgements lapse, freezes end, alerts expire, also with their groups. */
export function alertTimeJob(alerts: Pick<Alerts, 'changeDue' | 'pruneGroups'>): Job {
  return {
    name: 'alert-time',
    everyMs: CHANGE_EVERY_MS,
    async run(signal) {
      await runBatches(signal, async () => {
        const { due, changed } = await alerts.changeDue(CHANGE_BATCH)
        // Alerts that other transactions have locked are left for the next run.
        return due >= CHANGE_BATCH && changed > 0
      })
      if (!signal.aborted) await alerts.pruneGroups()
    },
  }
}

/** Works on silences that have ended. */
export function silenceEndJob(silences: Pick<Silences, 'settleEnded'>): Job {
  return {
    name: 'alert-silence-end',
    everyMs: CHANGE_EVERY_MS,
    run: (signal) => silences.settleEnded(signal),
  }
}

/** Removes recovered alerts and ended silences that are older than `keepMs`. */
export function alertPruneJob(
  alerts: Pick<Alerts, 'prune'>,
  silences: Pick<Silences, 'prune'>,
  { clock, keepMs }: { readonly clock: Clock; readonly keepMs: number },
): Job {
  return {
    name: 'alert-prune',
    everyMs: HOUR,
    async run(signal) {
      const before = clock.now() - keepMs
      await runBatches(signal, async () => (await alerts.prune(before, PRUNE_BATCH)) === PRUNE_BATCH)
      if (!signal.aborted) await silences.prune(before)
    },
  }
}

/** Updates the gauge of alerts. */
export function alertCountJob(alerts: Pick<Alerts, 'countByStatus'>, metrics: Metrics): Job {
  const byStatus = metrics.gauge({
    name: 'alerts',
    help: 'Alerts by status, counted every 30 s.',
    labels: ['status'],
  })
  return {
    name: 'alert-count',
    everyMs: COUNT_EVERY_MS,
    gauges: [byStatus],
    async run() {
      const rows = await alerts.countByStatus()
      const counts = new Map(rows.map(({ status, alerts: count }) => [status, count]))
      for (const status of ALERT_STATUSES) byStatus.set(counts.get(status) ?? 0, { status })
    },
  }
}
