import type { Clock } from '../../kernel/clock.ts'
import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { formatCount } from '../../kernel/text.ts'
import { batchJob, type Job } from '../../kernel/job.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { SESSION_EVENTS } from './model.ts'
import { SESSION_ERRORS, SESSION_READERS, sessionRoutes, encodeAudit, AuditSchema } from './routes.ts'
import { Sessions, type SessionDeps } from './service.ts'
import { names } from './tables.ts'

export type { AuditEntry, Session } from './model.ts'
export { encodeTunnels } from './routes.ts'
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
      service: sessions,
      routes: sessionRoutes(sessions),
      jobs: {
        gateway: [upkeepJob],
        worker: [upkeepJob, sessionPruneJob(sessions, deps.clock)],
      },
      builtInCommands: [disconnectUserCommand(sessions)],
    } satisfies DomainParts
  },
})

/** Disconnects all VPN sessions of a user. */
function disconnectUserCommand(sessions: Pick<Sessions, 'disconnectUser'>): BuiltInCommand {
  return builtInCommand({
    id: 'vpn.disconnect-user',
    title: 'Disconnect a VPN user',
    description:
      'Closes all live sessions of a user with 4403. The user may connect again; disable it to prevent that.',
    params: { user_id: { type: 'string', pattern: '^.{1,64}$', description: 'Id of the user.' } },
    async run({ params, actor, print }) {
      const disconnected = await sessions.disconnectUser(String(params['user_id']), actor)
      print(`Disconnected ${formatCount(disconnected, 'session')}.`)
    },
  })
}

// A dead gateway is noticed up to two periods late.
const UPKEEP_EVERY_MS = SECOND
// For investigations. 1,000 sessions a day make 2,000 audit entries a day: 180,000 rows, about 70 MB.
const KEEP_MS = 90 * DAY
// Other writes run between two batches.
const BATCH = 500

/** Releases the addresses of dead gateways. */
export function sessionUpkeepJob(sessions: Sessions): Job {
  return {
    name: 'vpn-upkeep',
    everyMs: UPKEEP_EVERY_MS,
    async run() {
      await sessions.reclaim()
    },
  }
}

/** Deletes closed sessions and audit entries that are older than 90 days. */
export function sessionPruneJob(sessions: Sessions, clock: Clock): Job {
  return batchJob('vpn-prune', HOUR, () => sessions.prune(clock.now() - KEEP_MS, BATCH))
}
