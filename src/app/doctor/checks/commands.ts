import { statSync, type Stats } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { UnfinishedExecution } from '../../../domains/commands/index.ts'
import { MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import { fine, skipped, warning, type Check, type CheckFinding, type DoctorParts } from '../check.ts'
import { documentPath } from '../document-path.ts'
import { mayAccess, type ServiceUser } from '../service-user.ts'

// Of a built-in command.
const USUAL_TIMEOUT_MS = 10 * MINUTE
// Its processes get 10 s to end, and the worker looks each few seconds.
const LATE_MS = MINUTE
const EXECUTE = 1
const ANYBODY_EXECUTES = 0o111

/** Whether the programs of commands can be started, and whether commands run that should have ended, or wait that should run. */
export const commandsCheck: Check = {
  name: 'commands',
  modules: ['api', 'worker'],
  run: async (parts) => [...(await programFaults(parts)), ...(await executions(parts))],
}

/** Only a worker starts programs. */
async function programFaults({ loaded, serviceUser }: DoctorParts): Promise<CheckFinding[]> {
  const { commands, modules } = loaded.config
  if (!modules.includes('worker') || commands.programs.length === 0) return []
  const user = await serviceUser()
  return commands.programs.flatMap(({ id, run }) => {
    const reason = startFault(run[0] ?? '', commands.environment['PATH'] ?? '', user)
    return reason === undefined ? [] : [warning(`commands.${id}.run`, reason, PROGRAM_REMEDY)]
  })
}

/** Why the program cannot be started; undefined if it can. */
function startFault(program: string, path: string, user: ServiceUser | undefined): string | undefined {
  const places = program.includes('/') ? [program] : path.split(delimiter).map((each) => join(each, program))
  const files = places.flatMap((place) => statSync(place, { throwIfNoEntry: false }) ?? [])
  if (files.length === 0)
    return program.includes('/')
      ? `${program} does not exist`
      : `${program} is in no directory of PATH (${path})`
  const canStart = files.some((stats) => stats.isFile() && isExecutable(stats, user))
  return canStart ? undefined : `the user of the service cannot execute ${program}`
}

/** Root executes a file that anybody may execute. */
function isExecutable(stats: Stats, user: ServiceUser | undefined): boolean {
  if ((stats.mode & ANYBODY_EXECUTES) === 0) return false
  return user === undefined || mayAccess(user, stats, EXECUTE)
}

async function executions({ loaded, clock, database }: DoctorParts): Promise<CheckFinding[]> {
  const activity = (await database().catch(() => undefined))?.activity
  if (!activity) return [skipped('executions', 'needs the database')]
  if (activity.executions.length === 0) return [fine('executions', 'none runs or waits')]
  return activity.executions.map((each) => findingOf(each, timeoutOf(loaded.config, each), clock.now()))
}

function timeoutOf({ commands }: Config, { commandId }: UnfinishedExecution): number {
  return commands.programs.find(({ id }) => id === commandId)?.timeoutMs ?? USUAL_TIMEOUT_MS
}

function findingOf(
  { id, commandId, status, host, queuedAt, startedAt }: UnfinishedExecution,
  timeoutMs: number,
  now: number,
): CheckFinding {
  const subject = `${commandId} ${id}`
  if (status !== 'running') {
    const detail = `is queued since ${toRfc3339(queuedAt)}`
    return now - queuedAt > LATE_MS ? warning(subject, detail, QUEUED_REMEDY) : fine(subject, detail)
  }
  const since = startedAt ?? queuedAt
  const detail = `runs on ${host ?? 'an unknown host'} since ${toRfc3339(since)}; its timeout is ${timeoutMs / MINUTE} min`
  if (now - since <= timeoutMs + LATE_MS) return fine(subject, detail)
  return warning(
    subject,
    `${detail}, which is over`,
    `cancel it (POST /commands/executions/${id}/cancel); if it stays, restart the worker on that host, and see "When something goes wrong" in ${documentPath('docs/guide/commands.md')}`,
  )
}

const QUEUED_REMEDY =
  'start a worker that has this command in its configuration; if one runs, max_concurrent others of this command run'

const PROGRAM_REMEDY =
  'install the program, make it executable for that user (chmod), or correct the setting and restart the worker'
