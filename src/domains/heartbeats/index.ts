import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { HEARTBEAT_ALERTS } from './alerts.ts'
import { HEARTBEAT_EVENTS } from './events.ts'
import { heartbeatCheckJob } from './jobs.ts'
import { HEARTBEAT_ERRORS, HEARTBEAT_READERS, heartbeatRoutes } from './routes.ts'
import { encodeHeartbeat, HeartbeatSchema } from './schemas.ts'
import { Heartbeats, type HeartbeatDeps } from './service.ts'
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
      heartbeats,
      routes: heartbeatRoutes(heartbeats, deps.clock),
      jobs: { worker: [heartbeatCheckJob(heartbeats, deps.metrics)] },
    } satisfies DomainParts & { heartbeats: Heartbeats }
  },
})
