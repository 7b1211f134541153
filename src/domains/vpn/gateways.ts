// The queries of the gateways themselves, apart from those of their sessions.
import type { ExpressionBuilder, Selectable } from 'kysely'
import type { Queries, Tx } from '../../store/store.ts'
import type { Gateway } from './model.ts'
import type { WatchedRun } from './silence.ts'
import { dbOf, statement, type VpnTables, type VpnGatewaysTable } from './tables.ts'

/** One run of a gateway. */
export interface GatewayRun {
  readonly runId: string
  readonly name: string
  /** Where it listens, for people. */
  readonly address: () => string
  readonly heartbeatMs: number
}

const appear = statement<Omit<Selectable<VpnGatewaysTable>, 'left_at'>>((db, value) =>
  db
    .insertInto('vpn_gateways')
    .values({
      run_id: value('run_id'),
      name: value('name'),
      address: value('address'),
      heartbeat_ms: value('heartbeat_ms'),
      started_at: value('started_at'),
      last_seen_at: value('last_seen_at'),
      left_at: null,
    })
    // Others may have taken this run for gone, and it knows its port only when it listens.
    .onConflict((conflict) =>
      conflict
        .column('run_id')
        .doUpdateSet({ address: value('address'), last_seen_at: value('last_seen_at'), left_at: null }),
    ),
)

const watched = statement<object, WatchedRun>((db) =>
  db
    .selectFrom('vpn_gateways')
    .select(['run_id as runId', 'name', 'heartbeat_ms as heartbeatMs', 'last_seen_at as lastSeenAt'])
    // A run that has left may have sessions yet: one that was frozen goes on before it says so.
    .where((row) => row.or([row('left_at', 'is', null), row.exists(liveSessions(row))])),
)

function liveSessions(row: ExpressionBuilder<VpnTables, 'vpn_gateways'>) {
  return row
    .selectFrom('vpn_sessions')
    .select('seq')
    .whereRef('vpn_sessions.run_id', '=', 'vpn_gateways.run_id')
    .where('closed_at', 'is', null)
}

/** Notes that this run lives. */
export async function markSeen(tx: Tx, run: GatewayRun, at: number): Promise<void> {
  const { runId: run_id, name, address, heartbeatMs: heartbeat_ms } = run
  await tx.change(appear, {
    run_id,
    name,
    address: address(),
    heartbeat_ms,
    started_at: at,
    last_seen_at: at,
  })
}

export async function markLeft(queries: Tx, runId: string, at: number): Promise<void> {
  await dbOf(queries).updateTable('vpn_gateways').set({ left_at: at }).where('run_id', '=', runId).execute()
}

/** The other runs of the same name that have not left. */
export async function otherRuns(queries: Queries, { name, runId }: GatewayRun): Promise<string[]> {
  const rows = await dbOf(queries)
    .selectFrom('vpn_gateways')
    .select('run_id')
    .where('name', '=', name)
    .where('run_id', '!=', runId)
    .where('left_at', 'is', null)
    .execute()
  return rows.map(({ run_id }) => run_id)
}

/** The runs that have not left, or have live sessions nevertheless. */
export function listWatched(queries: Queries): Promise<WatchedRun[]> {
  return queries.run(watched, {})
}

/** Whether the run has given no other sign of life; it cannot before the end of the transaction. */
export async function lockSilent(queries: Tx, { runId, lastSeenAt }: WatchedRun): Promise<boolean> {
  const row = await dbOf(queries)
    .selectFrom('vpn_gateways')
    .select('last_seen_at')
    .where('run_id', '=', runId)
    .$if(queries.capabilities.concurrentWriters, (query) => query.forUpdate())
    .executeTakeFirst()
  return row?.last_seen_at === lastSeenAt
}

/** The gateways that are there, or were since then, each as its last run says, by name. */
export async function listGateways(queries: Queries, since: number): Promise<Gateway[]> {
  const rows = await dbOf(queries)
    .selectFrom('vpn_gateways')
    .selectAll()
    .where((row) => row.or([row('left_at', 'is', null), row('last_seen_at', '>=', since)]))
    .orderBy('name')
    .orderBy((row) => row('left_at', 'is', null))
    .orderBy('started_at')
    .execute()
  const latest = new Map(rows.map((row) => [row.name, row]))
  return [...latest.values()].map((row) => ({
    name: row.name,
    address: row.address,
    heartbeatMs: row.heartbeat_ms,
    lastSeenAt: row.last_seen_at,
    alive: row.left_at === null,
  }))
}

/** Forgets the runs that have left and were last seen before that time. */
export async function deleteRuns(queries: Tx, before: number): Promise<void> {
  await dbOf(queries)
    .deleteFrom('vpn_gateways')
    .where('last_seen_at', '<', before)
    .where('left_at', 'is not', null)
    .where((row) => row.not(row.exists(liveSessions(row))))
    .execute()
}
