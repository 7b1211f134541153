import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { HEARTBEAT_ALERTS, HEARTBEAT_EVENTS } from './model.ts'
import {
  encodeHeartbeat,
  HEARTBEAT_ERRORS,
  HEARTBEAT_READERS,
  heartbeatRoutes,
  HeartbeatSchema,
} from './routes.ts'
import { Heartbeats, CHECK_EVERY_MS, type HeartbeatDeps } from './service.ts'
import { names } from './tables.ts'

export type { AlertHeartbeat, HeartbeatSettings } from './model.ts'
export type { HeartbeatDeps } from './service.ts'

/** Dead man's switches (docs/specification.md, Heartbeats). */
export const heartbeatsDomain = defineDomain({
  name: 'heartbeats',
  tables: names,
  events: HEARTBEAT_EVENTS,
  eventSchemas: { 'heartbeat.*': HeartbeatSchema },
  eventReaders: HEARTBEAT_READERS,
  errors: HEARTBEAT_ERRORS,
  alerts: HEARTBEAT_ALERTS,
  encodeEvent: encodeHeartbeat,
  create: (deps: HeartbeatDeps) => {
    const heartbeats = new Heartbeats(deps)
    return {
      service: heartbeats,
      routes: heartbeatRoutes(heartbeats, deps.clock),
      jobs: { worker: [heartbeatCheckJob(heartbeats, deps.metrics)] },
    } satisfies DomainParts
  },
})

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
