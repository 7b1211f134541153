import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Containment } from '../../kernel/command.ts'
import { NEXT_VERSION, type NewRowOf } from '../../store/columns.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { WorkClaim, WorkItem } from '../../store/work/runner.ts'
import { WORK_COLUMN_NAMES } from '../../store/work/work-queue.ts'
import type { RunLease } from './lease-watch.ts'
import type {
  ApprovalRecord,
  Execution,
  ExecutionStatus,
  ExecutionView,
  RunStatus,
  StatusReason,
  WaitingExecution,
} from './model.ts'
import { FIRST_POLICY, type Policy, type PolicyChange } from './policy.ts'
import type { OutputSnapshot } from './run-output.ts'
import {
  executions,
  outputs,
  policies,
  changeRow,
  changeRows,
  db,
  pages,
  readRow,
  readRows,
} from './tables.ts'

const EXECUTION = executions.except('seq', 'secrets', ...WORK_COLUMN_NAMES)

export const insertExecution = changeRows((on, execution: NewRowOf<typeof executions>) =>
  on.insertInto('command_executions').values(executions.values(execution)),
)

interface StoredExecution extends Omit<Execution, 'params' | 'approvals' | 'requesterRoles'> {
  params: string
  requesterRoles: string | null
  approvals: string
  text: string | null
  total: number | null
}

function toView({ text, total, ...row }: StoredExecution): ExecutionView {
  return { ...executions.decode(row), output: text ?? '', outputTotal: total ?? 0 }
}

export const findExecution = readRow(
  (on, id: string) =>
    on
      .selectFrom('command_executions')
      .leftJoin('command_outputs', 'execution_id', 'id')
      .select(EXECUTION)
      .select(['text', 'total'])
      .where('id', '=', id),
  toView,
)

export interface ExecutionFilter {
  readonly status?: ExecutionStatus | undefined
  readonly commandId?: string | undefined
  readonly requestedBy?: string | undefined
  /** See {@link readableFor}; everything when left out. */
  readonly readable?: string
}

/** What a caller may read: the executions of these commands, and its own. One value, because a condition has one. */
export function readableFor(commandIds: readonly string[], callerId: string): string {
  // No id contains a line end, and no id of a command an equals sign.
  return ['', ...commandIds, `=${callerId}`, ''].join('\n')
}

// docs/specification.md, Commands: a page has up to 1,000 executions, and an output up to 64 KiB
const LISTED_OUTPUT = sql.lit(1_024)

/** The end of the output. Cut by the database, so that the rest is not read. */
const listedText = sql<string | null>`case when length(text) > ${LISTED_OUTPUT}
  then substr(text, length(text) - ${LISTED_OUTPUT} + 1) else text end`

/** Newest first, each with the end of its output. */
export const listExecutions = pages(
  {
    table: 'command_executions',
    createdAt: 'created_at',
    size: sql<number>`${sizeOf('params', 'approvals', 'reason')} + ${LISTED_OUTPUT}`,
  },
  (on) =>
    on
      .selectFrom('command_executions')
      .leftJoin('command_outputs', 'execution_id', 'id')
      .select(['seq', ...EXECUTION])
      .select([listedText.as('text'), 'total']),
  {
    status: (query, status: ExecutionStatus) => query.where('status', '=', status),
    commandId: (query, commandId: string) => query.where('command_id', '=', commandId),
    requestedBy: (query, requestedBy: string) => query.where('requested_by', '=', requestedBy),
    readable: (query, list: string) =>
      query.where(
        sql<boolean>`(replace(${list}, '\n' || command_id || '\n', '') <> ${list}
          or replace(${list}, '\n=' || requested_by || '\n', '') <> ${list})`,
      ),
  },
  ({ seq: _seq, ...row }) => toView(row),
)

interface Decision {
  readonly id: string
  readonly status: 'queued' | 'rejected'
  readonly approvals: readonly ApprovalRecord[]
  readonly at: number
}

const decide = (on: ReturnType<typeof db>, decision: Decision) =>
  on
    .updateTable('command_executions')
    .set({ ...executions.set(decision, 'status', 'approvals'), version: NEXT_VERSION })
    .where('id', '=', decision.id)
    .where('status', '=', 'awaiting_approval')
    .where('expires_at', '>', decision.at)

/**
 * Compare-and-set: `false`, and nothing changes, when it does not wait for an approval, or waits too long. `expiresAt` is when
 * it expires without a start.
 */
export const approve = changeRow((on, decision: Decision, expiresAt: number) =>
  decide(on, decision).set({ queued_at: decision.at, expires_at: expiresAt }),
)

/** Compare-and-set, as {@link approve}. */
export const reject = changeRow((on, decision: Decision) =>
  decide(on, decision).set({ finished_at: decision.at, secrets: null }),
)

interface WaitingEnd {
  readonly id: string
  readonly status: ExecutionStatus
  readonly statusReason: StatusReason | null
  readonly cancelledBy: string | null
  readonly finishedAt: number
}

/** Ends an execution before its start. Compare-and-set: `false`, and nothing changes, when its status is not `from`. */
export const endWaiting = changeRow((on, from: WaitingExecution['status'], end: WaitingEnd) =>
  on
    .updateTable('command_executions')
    .set({
      ...executions.set(end, 'status', 'statusReason', 'cancelledBy', 'finishedAt'),
      secrets: null,
      due_at: null,
      version: NEXT_VERSION,
    })
    .where('id', '=', end.id)
    .where('status', '=', from),
)

/** Asks the worker to end a run; `false` when it does not run, or was cancelled already. */
export const cancelIfRunning = changeRow((on, id: string, by: string) =>
  on
    .updateTable('command_executions')
    .set({ cancelled_by: by, version: NEXT_VERSION })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('cancelled_by', 'is', null),
)

/** The executions that were queued until `before`, or, with a clock that was set back since, later than `after`. */
export const listUnstarted = readRows((on, before: number, after: number, limit: number) =>
  on
    .selectFrom('command_executions')
    .select('id')
    .where('status', '=', 'queued')
    .where((row) => row.or([row('queued_at', '<=', before), row('queued_at', '>', after)]))
    .orderBy('seq')
    .limit(limit),
)

/** The requests that have waited too long for an approval. */
export const listExpired = readRows((on, now: number, limit: number) =>
  on
    .selectFrom('command_executions')
    .select('id')
    .where('status', '=', 'awaiting_approval')
    .where('expires_at', '<=', now)
    .orderBy('seq')
    .limit(limit),
)

/** Ends every execution that is not finished, as `status`; for a database that no process serves. */
export const interruptUnfinished = changeRows((on, status: 'interrupted' | 'incomplete', now: number) =>
  on
    .updateTable('command_executions')
    .set({
      status,
      finished_at: now,
      secrets: null,
      due_at: null,
      lease_holder: null,
      version: NEXT_VERSION,
    })
    .where('status', 'in', ['awaiting_approval', 'queued', 'running']),
)

/** The leases of all runs. */
export const listLeases = readRows((on) =>
  on
    .selectFrom('command_executions')
    .select(['id', 'due_at as dueAt'])
    .where('status', '=', 'running')
    .where('due_at', 'is not', null)
    .orderBy('seq')
    .$narrowType<{ dueAt: number }>(),
)

/** Compare-and-set: the worker may have renewed its lease meanwhile. */
export const markIncomplete = changeRow((on, lease: RunLease, now: number) =>
  on
    .updateTable('command_executions')
    .set({
      status: 'incomplete',
      finished_at: now,
      due_at: null,
      lease_holder: null,
      version: NEXT_VERSION,
    })
    .where('id', '=', lease.id)
    .where('status', '=', 'running')
    .where('due_at', '=', lease.dueAt),
)

export interface RunChange {
  readonly id: string
  readonly attempts: number
  readonly holder: string
  readonly status: RunStatus
  readonly exitCode: number | null
  readonly signal: string | null
  readonly finishedAt: number
}

/** Compare-and-set: `false`, and nothing changes, when the lease was lost. */
export const finishRun = changeRow((on, change: RunChange) =>
  on
    .updateTable('command_executions')
    .set({
      ...executions.set(change, 'status', 'exitCode', 'signal', 'finishedAt'),
      due_at: null,
      lease_holder: null,
      version: NEXT_VERSION,
    })
    .where('id', '=', change.id)
    .where('status', '=', 'running')
    .where('lease_holder', '=', change.holder)
    .where('attempts', '=', change.attempts),
)

export const saveOutput = changeRows((on, id: string, output: OutputSnapshot) =>
  on
    .updateTable('command_outputs')
    .set(outputs.set(output, 'text', 'total'))
    .where('execution_id', '=', id),
)

/** How far an execution is, without its output. */
export interface Progress {
  readonly status: ExecutionStatus
  readonly cancelledBy: string | null
  /** The `total` of {@link OutputSnapshot}; null before the start. */
  readonly total: number | null
}

/** Cheap: may be called several times a second. */
export const readProgress = readRow((on, id: string) =>
  on
    .selectFrom('command_executions')
    .leftJoin('command_outputs', 'execution_id', 'id')
    .select(['status', 'cancelled_by as cancelledBy', 'total'])
    .where('id', '=', id),
)

const findPolicy = readRow((on) =>
  on.selectFrom('command_policies').select(['revision', 'rules']).orderBy('seq', 'desc').limit(1),
)

/** Lets one transaction at a time continue here. */
export const lockFor = readRow((on, name: 'claim' | 'policy') =>
  on.selectFrom('command_locks').select('name').where('name', '=', name).forUpdate(),
)

/** The policy in force. */
export async function readPolicy(queries: Queries): Promise<Policy> {
  const row = await findPolicy(queries)
  return row ? policies.decode(row) : FIRST_POLICY
}

export const addPolicy = changeRows((on, change: PolicyChange) =>
  on.insertInto('command_policies').values(policies.values(change)),
)

/** Newest first. */
export const listPolicies = pages(
  { table: 'command_policies', createdAt: 'at', size: sizeOf('rules') },
  (on) => on.selectFrom('command_policies').select(policies.all),
  {},
  ({ seq: _seq, ...row }) => policies.decode(row),
)

/** An execution that waits for a worker, or runs. */
export interface UnfinishedExecution {
  readonly id: string
  readonly commandId: string
  readonly status: ExecutionStatus
  readonly host: string | null
  readonly queuedAt: number
  readonly startedAt: number | null
}

/** The executions that run, then the oldest that are queued. Those that wait for an approval are not among them. */
export const listUnfinished = readRows((on, limit: number) =>
  on
    .selectFrom('command_executions')
    .select(executions.pick('id', 'commandId', 'status', 'host', 'queuedAt', 'startedAt'))
    .where('status', 'in', ['queued', 'running'])
    // `running` before `queued`
    .orderBy('status', 'desc')
    .orderBy('seq')
    .limit(limit),
)

/** The query that counts the unfinished executions of each status; it reads one index. */
export function countUnfinished(queries: Queries) {
  return db(queries)
    .selectFrom('command_executions')
    .select(['status', (row) => row.fn.countAll<number>().as('executions')])
    .where('status', 'in', ['awaiting_approval', 'queued', 'running'])
    .groupBy('status')
}

const ALERTED = executions.pick('id', 'commandId', 'host', 'status', 'statusReason')
// Alerts of older executions have been recovered by a person, or are repeated every day.
const EARLIER_EXECUTIONS = 100

/** The newest executions of the same command with the same parameters that have ended without their result. */
export async function listUnfinishedBefore(queries: Queries, { commandId, params }: ExecutionView) {
  const rows = await db(queries)
    .selectFrom('command_executions')
    .select([...ALERTED, 'params'])
    // The condition names the status, not the command, which may have run very often.
    .where('status', 'in', ['incomplete', 'expired'])
    .orderBy('seq', 'desc')
    .limit(EARLIER_EXECUTIONS)
    .execute()
  return rows.filter(
    (row) => row.commandId === commandId && isDeepStrictEqual(JSON.parse(row.params), params),
  )
}

/** Deletes one batch of the executions that had finished before a time; returns them. */
export async function deleteFinished(tx: Tx, before: number, limit: number) {
  const rows = await db(tx)
    .selectFrom('command_executions')
    .select(ALERTED)
    .where('finished_at', '<', before)
    .orderBy('finished_at')
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  await db(tx).deleteFrom('command_outputs').where('execution_id', 'in', ids).execute()
  await db(tx).deleteFrom('command_executions').where('id', 'in', ids).execute()
  return rows
}

/** Whether any execution is queued: the first one found. */
export const findQueued = readRow((on) =>
  on.selectFrom('command_executions').select('id').where('status', '=', 'queued').limit(1),
)

/** How many executions of each command run. */
export async function countRunning(tx: Tx): Promise<Map<string, number>> {
  const rows = await db(tx)
    .selectFrom('command_executions')
    .select(['command_id', (row) => row.fn.countAll<number>().as('running')])
    .where('status', '=', 'running')
    .groupBy('command_id')
    .execute()
  return new Map(rows.map(({ command_id, running }) => [command_id, running]))
}

// At most some executions of one command run at the same time, so a few are enough for each claim.
const MAX_LISTED = 100

/** The oldest queued executions of these commands. */
export async function listQueued(tx: Tx, commandIds: readonly string[]): Promise<WaitingExecution[]> {
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

/** An execution that a worker has begun, with its encrypted secrets, which only this claim has from now on. */
export interface ClaimedExecution extends WorkItem {
  readonly commandId: string
  readonly params: Execution['params']
  readonly requestedBy: string
  readonly secrets: string | null
}

/** The execution with its encrypted secrets, which {@link beginRun} removes. */
const findClaimed = readRow(
  (on, id: string) =>
    on
      .selectFrom('command_executions')
      .select(executions.pick('id', 'commandId', 'params', 'requestedBy', 'secrets', 'queuedAt', 'trace'))
      .where('id', '=', id),
  executions.decode,
)

const setRunning = changeRow(
  (on, id: string, claim: WorkClaim, host: string, containment: Containment | null) =>
    on
      .updateTable('command_executions')
      .set({
        status: 'running',
        started_at: claim.now,
        host,
        containment,
        secrets: null,
        due_at: claim.until,
        lease_holder: claim.holder,
        attempts: 1,
        version: NEXT_VERSION,
      })
      .where('id', '=', id)
      .where('status', '=', 'queued'),
)

const insertOutput = changeRows((on, executionId: string) =>
  on.insertInto('command_outputs').values(outputs.values({ executionId, text: '', total: 0 })),
)

/**
 * Begins a queued execution. Compare-and-set, and nothing moves an execution back: so it runs at most once. Undefined, and
 * nothing changes, when it is not queued.
 */
export async function beginRun(
  tx: Tx,
  id: string,
  claim: WorkClaim,
  host: string,
  containment: Containment | null,
): Promise<ClaimedExecution | undefined> {
  const claimed = await findClaimed(tx, id)
  if (!claimed || !(await setRunning(tx, id, claim, host, containment))) return undefined
  await insertOutput(tx, id)
  return { ...claimed, attempts: 1 }
}
