import { statSync, type Stats } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { UnfinishedExecution } from '../../../domains/commands/index.ts'
import { MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import { EXAMINED_EXECUTIONS } from '../activity.ts'
import {
  fine,
  firstFindings,
  skipped,
  warning,
  type Check,
  type CheckFinding,
  type DoctorParts,
} from '../check.ts'
import { documentPath } from '../document-path.ts'
import type { FindingCode } from '../findings.ts'
import { mayAccess, type ServiceUser } from '../service-user.ts'

// The limit of a built-in command.
const USUAL_TIMEOUT_MS = 10 * MINUTE
// The processes of a command get 10 s to end, and the worker looks every few seconds.
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
    const program = run[0] ?? ''
    const path = commands.environment['PATH'] ?? ''
    const code = startFault(program, path, user)
    return code === undefined ? [] : [warning(`commands.${id}.run`, code, { program, path })]
  })
}

/** Why the program cannot be started; undefined if it can. */
function startFault(program: string, path: string, user: ServiceUser | undefined): FindingCode | undefined {
  const places = program.includes('/') ? [program] : path.split(delimiter).map((each) => join(each, program))
  const files = places.flatMap((place) => statSync(place, { throwIfNoEntry: false }) ?? [])
  if (files.length === 0) return program.includes('/') ? 'program_missing' : 'program_not_in_path'
  const canStart = files.some((stats) => stats.isFile() && isExecutable(stats, user))
  return canStart ? undefined : 'program_not_executable'
}

/** Root executes a file that anybody may execute. */
function isExecutable(stats: Stats, user: ServiceUser | undefined): boolean {
  if ((stats.mode & ANYBODY_EXECUTES) === 0) return false
  return user === undefined || mayAccess(user, stats, EXECUTE)
}

async function executions({ loaded, clock, database }: DoctorParts): Promise<readonly CheckFinding[]> {
  const found = (await database().catch(() => undefined))?.activity.executions
  if (!found) return [skipped('executions', 'needs the database')]
  if (found.length === 0) return [fine('executions', 'none runs or waits')]
  const findings = found.map((each) => findingOf(each, timeoutOf(loaded.config, each), clock.now()))
  const others = found.length < EXAMINED_EXECUTIONS ? 'that wait' : 'at least that wait'
  return firstFindings(findings, 'executions', `${others}: GET /commands/executions?status=queued`)
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
    const since = toRfc3339(queuedAt)
    return now - queuedAt > LATE_MS
      ? warning(subject, 'execution_waits', { since })
      : fine(subject, `is queued since ${since}`)
  }
  const since = startedAt ?? queuedAt
  const values = { host: host ?? 'an unknown host', since: toRfc3339(since), minutes: timeoutMs / MINUTE }
  if (now - since <= timeoutMs + LATE_MS)
    return fine(subject, `runs on ${values.host} since ${values.since}; its timeout is ${values.minutes} min`)
  const document = documentPath('docs/guide/commands.md')
  return warning(subject, 'execution_late', { ...values, execution: id, document })
}
