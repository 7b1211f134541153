import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { heartbeatCheckJob } from './jobs.ts'
import { HEARTBEAT_ERRORS, heartbeatRoutes } from './routes.ts'
import { Heartbeats, type HeartbeatDeps } from './service.ts'
import { names } from './tables.ts'

export type { AlertHeartbeat, HeartbeatSettings } from './model.ts'
export type { HeartbeatDeps } from './service.ts'

/** Dead man's switches (docs/specification.md, Heartbeats). */
export const heartbeatsDomain = defineDomain({
  name: 'heartbeats',
  tables: names,
  events: {},
  errors: HEARTBEAT_ERRORS,
  create: (deps: HeartbeatDeps) => {
    const heartbeats = new Heartbeats(deps)
    return {
      heartbeats,
      routes: heartbeatRoutes(heartbeats),
      jobs: { worker: [heartbeatCheckJob(heartbeats, deps.metrics)] },
    } satisfies DomainParts & { heartbeats: Heartbeats }
  },
})
