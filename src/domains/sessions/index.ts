import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { disconnectUserCommand } from './commands.ts'
import { SESSION_EVENTS } from './events.ts'
import { sessionPruneJob, sessionUpkeepJob } from './jobs.ts'
import { SESSION_ERRORS, SESSION_READERS, sessionRoutes } from './routes.ts'
import { AuditSchema, encodeAudit } from './schemas.ts'
import { Sessions, type SessionDeps } from './service.ts'
import { names } from './tables.ts'

export type { AuditEntry, Session } from './model.ts'
export { encodeTunnels } from './schemas.ts'
export { Sessions, type SessionDeps } from './service.ts'

/** The sessions of all gateways, and their audit trail (docs/specification.md, Gateway). */
export const sessionsDomain = defineDomain({
  name: 'sessions',
  tables: names,
  events: SESSION_EVENTS,
  eventSchemas: { 'vpn.audit.*': AuditSchema },
  eventReaders: SESSION_READERS,
  errors: SESSION_ERRORS,
  encodeEvent: encodeAudit,
  create: (deps: SessionDeps) => {
    const sessions = new Sessions(deps)
    // One job for both modules: a process that runs both watches once.
    const upkeepJob = sessionUpkeepJob(sessions)
    return {
      sessions,
      routes: sessionRoutes(sessions),
      jobs: {
        gateway: [upkeepJob],
        worker: [upkeepJob, sessionPruneJob(sessions, deps.clock)],
      },
      builtInCommands: [disconnectUserCommand(sessions)],
    } satisfies DomainParts & { sessions: Sessions }
  },
})
