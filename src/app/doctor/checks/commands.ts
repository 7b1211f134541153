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
