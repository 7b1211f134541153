import type { Containment } from '../../kernel/command.ts'
import type { WorkClaim, WorkItem } from '../../store/work/runner.ts'
import { NEXT_VERSION } from '../../store/columns.ts'
import type { Tx } from '../../store/store.ts'
import type { StartRules, WaitingExecution } from './start-rules.ts'
import { lockFor } from './store.ts'
import { db, executions, outputs, readRow, changeRow, changeRows } from './tables.ts'

/** An execution that a worker has begun, with its encrypted secrets, which only this claim has from now on. */
export interface ClaimedExecution extends WorkItem {
  readonly commandId: string
  readonly params: Readonly<Record<string, string | number | boolean>>
  readonly requestedBy: string
  readonly secrets: string | null
}

/** Who claims. */
export interface Claimer {
  readonly host: string
  /** Undefined for a built-in command. */
  readonly containmentOf: (commandId: string) => Containment | null
  /** The commands that this worker can run, with how many of each may run at the same time. */
  readonly limits: ReadonlyMap<string, number>
  /** Ends an execution that must not begin by now. */
  readonly rules: Pick<StartRules, 'endUnlessAllowed'>
}

const CLAIMED = executions.pick(
  'id',
  'commandId',
  'params',
  'requestedBy',
  'secrets',
  'queuedAt',
  'attempts',
  'trace',
)

const find = readRow((on, id: string) =>
  on.selectFrom('command_executions').select(CLAIMED).where('id', '=', id),
)

interface Start {
  readonly id: string
  readonly holder: string
  readonly until: number
  readonly now: number
  readonly host: string
  readonly containment: Containment | null
}

const begin = changeRow((on, start: Start) =>
  on
    .updateTable('command_executions')
    .set({
      status: 'running',
      started_at: start.now,
      host: start.host,
      containment: start.containment,
      secrets: null,
      due_at: start.until,
      lease_holder: start.holder,
      attempts: 1,
      version: NEXT_VERSION,
    })
    .where('id', '=', start.id)
    .where('status', '=', 'queued'),
)

const insertOutput = changeRows((on, change: { executionId: string; text: string; total: number }) =>
  on.insertInto('command_outputs').values(outputs.values(change)),
)

const anyQueued = readRow((on) =>
  on.selectFrom('command_executions').select('id').where('status', '=', 'queued').limit(1),
)

/**
 * Begins queued executions, oldest first, as many as the limits of their commands allow. The move from `queued` to
 * `running` is a compare-and-set, and nothing moves an execution back: so it runs at most once. The rights to run it
 * and to approve it are judged here again, because they may be gone since.
 */
export async function claimQueued(tx: Tx, claim: WorkClaim, claimer: Claimer): Promise<ClaimedExecution[]> {
  if (!(await anyQueued(tx))) return []
  // Two workers that count at the same time would exceed the limit of a command.
  await lockFor(tx, 'claim')
  const running = await countRunning(tx)
  const free = (commandId: string) => (claimer.limits.get(commandId) ?? 0) - (running.get(commandId) ?? 0)
  const claimed: ClaimedExecution[] = []
  const runnable = [...claimer.limits.keys()].filter((each) => free(each) > 0)
  for (const queued of await listQueued(tx, runnable)) {
    const { id, commandId } = queued
    if (claimed.length >= claim.limit) break
    if (free(commandId) <= 0) continue
    if (await claimer.rules.endUnlessAllowed(tx, queued)) continue
    running.set(commandId, (running.get(commandId) ?? 0) + 1)
    const execution = await start(tx, id, claim, {
      ...claimer,
      containment: claimer.containmentOf(commandId),
    })
    if (execution) claimed.push(execution)
  }
  return claimed
}

async function start(
  tx: Tx,
  id: string,
  { holder, until, now }: WorkClaim,
  { host, containment }: Pick<Start, 'host' | 'containment'>,
): Promise<ClaimedExecution | undefined> {
  // Read before the change, which removes the secrets.
  const row = await find(tx, id)
  if (!row || !(await begin(tx, { id, holder, until, now, host, containment }))) return undefined
  await insertOutput(tx, { executionId: id, text: '', total: 0 })
  return { ...executions.decode(row), attempts: 1 }
}

async function countRunning(tx: Tx): Promise<Map<string, number>> {
  const rows = await db(tx)
    .selectFrom('command_executions')
    .select(['command_id', (each) => each.fn.countAll<number>().as('running')])
    .where('status', '=', 'running')
    .groupBy('command_id')
    .execute()
  return new Map(rows.map(({ command_id, running }) => [command_id, running]))
}

// At most some executions of one command run at the same time, so a few are enough for each claim.
const MAX_LISTED = 100

async function listQueued(tx: Tx, commandIds: readonly string[]): Promise<WaitingExecution[]> {
  if (commandIds.length === 0) return []
  const rows = await db(tx)
    .selectFrom('command_executions')
    .select(executions.pick('id', 'commandId', 'requestedBy', 'requesterRoles', 'approvals', 'queuedAt'))
    .where('status', '=', 'queued')
    .where('command_id', 'in', commandIds)
    .orderBy('seq')
    .limit(MAX_LISTED)
    .execute()
  return rows.map((row) => ({ ...executions.decode(row), status: 'queued' }))
}
