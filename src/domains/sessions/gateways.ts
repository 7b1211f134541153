// The queries on gateways; the queries on their sessions are in store.ts.
import type { ExpressionBuilder, Kysely } from 'kysely'
import type { NewRowOf } from '../../store/columns.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { GatewayRecord } from './model.ts'
import type { WatchedRun } from './silence.ts'
import { gateways, changeRows, db, readRow, readRows } from './tables.ts'

type Tables = ReturnType<typeof db> extends Kysely<infer DB> ? DB : never

/** One run of a gateway. */
export interface GatewayRun {
  readonly runId: string
  readonly name: string
  /** Where it listens, for people. */
  readonly address: () => string
  readonly heartbeatMs: number
}

const saveRun = changeRows((on, run: NewRowOf<typeof gateways>) =>
  on
    .insertInto('vpn_gateways')
    .values(gateways.values(run))
    // Another process may have considered this run dead, and the port is known only after the start.
    .onConflict((conflict) =>
      conflict.column('run_id').doUpdateSet(gateways.set(run, 'address', 'lastSeenAt', 'leftAt')),
    ),
)

function liveSessions(row: ExpressionBuilder<Tables, 'vpn_gateways'>) {
  return row
    .selectFrom('vpn_sessions')
    .select('seq')
    .whereRef('vpn_sessions.run_id', '=', 'vpn_gateways.run_id')
    .where('closed_at', 'is', null)
}

/** Records a heartbeat of the gateway. */
export async function markSeen(tx: Tx, run: GatewayRun, at: number): Promise<void> {
  await saveRun(tx, { ...run, address: run.address(), startedAt: at, lastSeenAt: at, leftAt: null })
}

export const markLeft = changeRows((on, runId: string, at: number) =>
  on.updateTable('vpn_gateways').set({ left_at: at }).where('run_id', '=', runId),
)

/** The other runs of the same name that have not left. */
export const listOtherRuns = readRows(
  (on, { name, runId }: GatewayRun) =>
    on
      .selectFrom('vpn_gateways')
      .select('run_id as runId')
      .where('name', '=', name)
      .where('run_id', '!=', runId)
      .where('left_at', 'is', null),
  (row) => row.runId,
)

/** The latest run of that name that has not left. */
export const findRunning = readRow((on, name: string) =>
  on
    .selectFrom('vpn_gateways')
    .select(gateways.pick('address', 'startedAt'))
    .where('name', '=', name)
    .where('left_at', 'is', null)
    .orderBy('started_at', 'desc')
    .limit(1),
)

/** The runs that have not left, or that have live sessions. */
export const listWatched = readRows((on) =>
  on
    .selectFrom('vpn_gateways')
    .select(gateways.pick('runId', 'name', 'heartbeatMs', 'lastSeenAt'))
    // A run that was considered dead may have opened sessions since, if it was only frozen.
    .where((row) => row.or([row('left_at', 'is', null), row.exists(liveSessions(row))])),
)

const lockLastSeenAt = readRow(
  (on, runId: string) =>
    on
      .selectFrom('vpn_gateways')
      .select('last_seen_at as lastSeenAt')
      .where('run_id', '=', runId)
      .forUpdate(),
  ({ lastSeenAt }) => lastSeenAt,
)

/** Locks a run, and returns whether it has sent no newer heartbeat. It cannot send one until the transaction has ended. */
export async function lockSilent(tx: Tx, { runId, lastSeenAt }: WatchedRun): Promise<boolean> {
  return (await lockLastSeenAt(tx, runId)) === lastSeenAt
}

/**
 * The gateways that run, or have run since that time, by name, each as its latest run describes it. The last row of a name
 * wins: the rows are sorted, so that it is one that has not left, or else the newest.
 */
export async function listGateways(queries: Queries, since: number): Promise<GatewayRecord[]> {
  const rows = await db(queries)
    .selectFrom('vpn_gateways')
    .select(gateways.pick('name', 'address', 'heartbeatMs', 'lastSeenAt', 'leftAt'))
    .where((row) => row.or([row('left_at', 'is', null), row('last_seen_at', '>=', since)]))
    .orderBy('name')
    .orderBy((row) => row('left_at', 'is', null))
    .orderBy('started_at')
    .execute()
  const latest = new Map(rows.map((row) => [row.name, row]))
  return [...latest.values()].map(({ leftAt, ...gateway }) => ({ ...gateway, alive: leftAt === null }))
}

/** Deletes the runs that have left, have no live session, and were last seen before that time. */
export const deleteRuns = changeRows((on, before: number) =>
  on
    .deleteFrom('vpn_gateways')
    .where('last_seen_at', '<', before)
    .where('left_at', 'is not', null)
    .where((row) => row.not(row.exists(liveSessions(row)))),
)
