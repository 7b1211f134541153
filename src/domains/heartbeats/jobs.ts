import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { CHECK_EVERY_MS, type Heartbeats } from './service.ts'

/** Raises the alerts of missed heartbeats, and updates the gauge of their ages. */
export function heartbeatCheckJob(heartbeats: Heartbeats, metrics: Metrics): Job {
  const age = metrics.gauge({
    name: 'heartbeat_age_seconds',
    help: 'Time since the last beat of a heartbeat, or since its creation, read every 5 s.',
    labels: ['name'],
  })
  return {
    name: 'heartbeat-check',
    everyMs: CHECK_EVERY_MS,
    gauges: [age],
    async run() {
      await heartbeats.checkDue()
      const ages = await heartbeats.ages()
      // Removes the ages of deleted heartbeats.
      age.clear()
      for (const { name, ageMs } of ages) age.set(ageMs / SECOND, { name })
    },
  }
}
