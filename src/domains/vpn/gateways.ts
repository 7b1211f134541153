// The queries of the gateways themselves, apart from those of their sessions.
import { sql, type Selectable } from 'kysely'
import { statement } from '../../store/statement.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { INTERVALS_UNTIL_DEAD, type Gateway } from './model.ts'
import type { VpnGatewaysTable } from './tables.ts'

/** One run of a gateway. */
export interface GatewayRun {
  readonly runId: string
  readonly name: string
  /** Where it listens, for people. */
  readonly address: string
  readonly heartbeatMs: number
}

type Run = Pick<VpnGatewaysTable, 'run_id' | 'name'>

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
    // A later run of the same name may have declared this one gone.
    .onConflict((conflict) =>
      conflict.column('run_id').doUpdateSet({ last_seen_at: value('last_seen_at'), left_at: null }),
    ),
)

const dead = statement<{ now: number }, Run>((db, value) =>
  db
    .selectFrom('vpn_gateways')
    .select(['run_id', 'name'])
    .where(
      (row) => sql`${row.ref('last_seen_at')} + ${SILENCE} * ${row.ref('heartbeat_ms')}`,
      '<=',
      value('now'),
    )
    .where((row) =>
      row.exists(
        row
          .selectFrom('vpn_sessions')
          .select('seq')
          .whereRef('vpn_sessions.run_id', '=', 'vpn_gateways.run_id')
          .where('closed_at', 'is', null),
      ),
    ),
)

const SILENCE = sql.lit(INTERVALS_UNTIL_DEAD)

/** Notes that this run lives. */
export async function markSeen(tx: Tx, run: GatewayRun, at: number): Promise<void> {
  const { runId: run_id, name, address, heartbeatMs: heartbeat_ms } = run
  await tx.change(appear, { run_id, name, address, heartbeat_ms, started_at: at, last_seen_at: at })
}

export async function markLeft({ db }: Tx, runId: string, at: number): Promise<void> {
  await db.updateTable('vpn_gateways').set({ left_at: at }).where('run_id', '=', runId).execute()
}

/** The other runs of the same name that have not left. */
export async function otherRuns({ db }: Queries, { name, runId }: GatewayRun): Promise<string[]> {
  const rows = await db
    .selectFrom('vpn_gateways')
    .select('run_id')
    .where('name', '=', name)
    .where('run_id', '!=', runId)
    .where('left_at', 'is', null)
    .execute()
  return rows.map(({ run_id }) => run_id)
}

/** The runs that were silent for too long while sessions of theirs were live. */
export function listDead(queries: Queries, now: number): Promise<Run[]> {
  return queries.run(dead, { now })
}

/** Whether the run is still silent; nobody can change that before the end of the transaction. */
export async function lockDead({ db, capabilities }: Tx, runId: string, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('vpn_gateways')
    .select(['last_seen_at', 'heartbeat_ms'])
    .where('run_id', '=', runId)
    .$if(capabilities.concurrentWriters, (query) => query.forUpdate())
    .executeTakeFirst()
  return row !== undefined && isSilent(row, now)
}

/** The gateways that were seen since then, each as its last run says, by name. */
export async function listGateways({ db }: Queries, since: number, now: number): Promise<Gateway[]> {
  const rows = await db
    .selectFrom('vpn_gateways')
    .selectAll()
    .where('last_seen_at', '>=', since)
    .orderBy('name')
    .orderBy('started_at')
    .execute()
  const latest = new Map(rows.map((row) => [row.name, row]))
  return [...latest.values()].map((row) => ({
    name: row.name,
    address: row.address,
    lastSeenAt: row.last_seen_at,
    alive: row.left_at === null && !isSilent(row, now),
  }))
}

/** Forgets the runs that were last seen before that time. */
export async function deleteRuns({ db }: Tx, before: number): Promise<void> {
  await db.deleteFrom('vpn_gateways').where('last_seen_at', '<', before).execute()
}

function isSilent(
  { last_seen_at, heartbeat_ms }: Pick<VpnGatewaysTable, 'last_seen_at' | 'heartbeat_ms'>,
  now: number,
): boolean {
  return last_seen_at + INTERVALS_UNTIL_DEAD * heartbeat_ms <= now
}
