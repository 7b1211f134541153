import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { eventRoutes } from './routes.ts'
import { LiveEvents, type LiveEventsDeps } from './service.ts'

export type { LiveEvents, LiveEventsDeps, SubjectsByLog } from './service.ts'

/** The live stream of the events of all domains (docs/specification.md, Live stream). */
export const eventsDomain = defineDomain({
  name: 'events',
  tables: [],
  events: {},
  errors: {},
  create: (deps: LiveEventsDeps) => {
    const events = new LiveEvents(deps)
    return { service: events, routes: eventRoutes(events), jobs: {} } satisfies DomainParts
  },
})
