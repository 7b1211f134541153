import type { Config } from '../../../config/config.ts'
import type { UnfinishedExecution } from '../../../domains/commands/index.ts'
import { MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import { fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import { documentPath } from '../document-path.ts'

// Of a built-in command.
const USUAL_TIMEOUT_MS = 10 * MINUTE
// Its processes get 10 s to end, and the worker looks each few seconds.
const LATE_MS = MINUTE

/** Whether commands run that should have ended, or wait that should run. */
export const commandsCheck: Check = {
  name: 'commands',
  modules: ['api', 'worker'],
  run: async ({ loaded: { config }, clock, database }) => {
    const activity = (await database().catch(() => undefined))?.activity
    if (!activity) return [skipped('executions', 'needs the database')]
    if (activity.executions.length === 0) return [fine('executions', 'none runs or waits')]
    return activity.executions.map((each) => findingOf(each, timeoutOf(config, each), clock.now()))
  },
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
