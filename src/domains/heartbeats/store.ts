import { sql } from 'kysely'
import { NEXT_VERSION } from '../../store/columns.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Tx } from '../../store/store.ts'
import type { Ping, StoredHeartbeat } from './model.ts'
import {
  heartbeatPings,
  heartbeats,
  changeRow,
  changeRows,
  lockable,
  pages,
  readRow,
  readRows,
} from './tables.ts'

const HEARTBEAT = heartbeats.except('seq')

const updateRow = changeRows((on, heartbeat: StoredHeartbeat) =>
  on
    .updateTable('heartbeats')
    .set(heartbeats.setExcept(heartbeat, 'name', 'createdBy', 'createdAt'))
    .where('name', '=', heartbeat.name),
)

const deleteRow = changeRows((on, name: string) => on.deleteFrom('heartbeats').where('name', '=', name))

/** The name of the heartbeat with this hash of its address for pings. */
export const findNameByHash = readRow(
  (on, pingHash: string) => on.selectFrom('heartbeats').select('name').where('ping_hash', '=', pingHash),
  ({ name }) => name,
)

const insertPing = changeRows((on, ping: Ping & { heartbeat: string }) =>
  on.insertInto('heartbeat_pings').values(heartbeatPings.values(ping)),
)

const forgetPings = changeRows((on, heartbeat: string, kept: number) =>
  on
    .deleteFrom('heartbeat_pings')
    .where('heartbeat', '=', heartbeat)
    .where('seq', '<=', (older) =>
      older
        .selectFrom('heartbeat_pings')
        .select('seq')
        .where('heartbeat', '=', heartbeat)
        .orderBy('seq', 'desc')
        .limit(1)
        .offset(kept),
    ),
)

/** The names of overdue heartbeats that are not missed yet. */
export const listOverdue = readRows(
  (on, now: number) =>
    on
      .selectFrom('heartbeats')
      .select('name')
      .where('missed_at', 'is', null)
      .where('due_at', '<=', now)
      .orderBy('due_at'),
  ({ name }) => name,
)

const insertCheck = changeRows((on, name: string) =>
  on
    .insertInto('heartbeat_checks')
    .values({ name, checked_at: 0 })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

const lockCheck = readRow(
  (on, name: string) =>
    on.selectFrom('heartbeat_checks').select('checked_at as checkedAt').where('name', '=', name).forUpdate(),
  ({ checkedAt }) => checkedAt,
)

const updateCheck = changeRows((on, name: string, now: number) =>
  on.updateTable('heartbeat_checks').set({ checked_at: now }).where('name', '=', name),
)

/** `false` when there is a heartbeat of that name. */
export const insertHeartbeat = changeRow((on, heartbeat: StoredHeartbeat) =>
  on
    .insertInto('heartbeats')
    .values(heartbeats.values(heartbeat))
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

/** Finds a heartbeat and locks it until the end of the transaction. */
export const [findHeartbeat, lockHeartbeat] = lockable((on, name: string) =>
  on.selectFrom('heartbeats').select(HEARTBEAT).where('name', '=', name),
)

/** Keeps a ping, and the newest `kept` of the heartbeat in all. */
export async function addPing(tx: Tx, heartbeat: string, ping: Ping, kept: number): Promise<void> {
  await insertPing(tx, { ...ping, heartbeat })
  await forgetPings(tx, heartbeat, kept)
}

/** The pings of a heartbeat, newest first. */
export const listPings = pages(
  { table: 'heartbeat_pings', createdAt: 'at', size: sizeOf('body') },
  (on) => on.selectFrom('heartbeat_pings').select(heartbeatPings.all),
  { heartbeat: (query, heartbeat: string) => query.where('heartbeat', '=', heartbeat) },
)

/** The heartbeats that are missed now, the longest missed first. */
export const listMissed = readRows((on) =>
  on.selectFrom('heartbeats').select(HEARTBEAT).where('missed_at', 'is not', null).orderBy('missed_at'),
)

/** Writes a changed heartbeat, and returns it with its next version; the transaction must have locked it. */
export async function updateHeartbeat(tx: Tx, changed: StoredHeartbeat): Promise<StoredHeartbeat> {
  const heartbeat = { ...changed, version: changed.version + 1 }
  await updateRow(tx, heartbeat)
  return heartbeat
}

export async function deleteHeartbeat(tx: Tx, name: string): Promise<void> {
  await deleteRow(tx, name)
  await forgetPings(tx, name, 0)
}

/** Newest first. */
export const listHeartbeats = pages(
  { table: 'heartbeats', createdAt: 'created_at' },
  (on) => on.selectFrom('heartbeats').select(heartbeats.all),
  {},
)

/** The time from which the age of each heartbeat counts. */
export const listAges = readRows((on) =>
  on
    .selectFrom('heartbeats')
    .select(['name', (row) => row.fn.coalesce('last_beat_at', 'created_at').as('since')]),
)

export const findAnyHeartbeat = readRow((on) => on.selectFrom('heartbeats').select('name').limit(1))

/** Compare-and-set: `false`, and nothing changes, when a beat came meanwhile or another worker was first. */
export const markMissed = changeRow((on, name: string, now: number) =>
  on
    .updateTable('heartbeats')
    .set({ missed_at: now, version: NEXT_VERSION })
    .where('name', '=', name)
    .where('missed_at', 'is', null)
    .where('due_at', '<=', now),
)

/** The name of the only check. */
const CHECK = 'worker'

/** Records a check; returns the time of the one before, 0 if there was none. */
export async function recordCheck(tx: Tx, now: number): Promise<number> {
  await insertCheck(tx, CHECK)
  const before = await lockCheck(tx, CHECK)
  await updateCheck(tx, CHECK, now)
  return before ?? 0
}

/** Postpones due times by the duration of an absence, or by the part of it after the last beat or change of settings. */
export const postpone = changeRows((on, from: number, to: number) => {
  const countedFrom = sql<number>`case when counted_from > ${from} then counted_from else ${from} end`
  return on
    .updateTable('heartbeats')
    .set({ due_at: sql<number>`due_at + ${to} - ${countedFrom}`, version: NEXT_VERSION })
    .where('missed_at', 'is', null)
})

/** Brings due times forward that were counted by a clock which has been set back since. */
export const bringForward = changeRows((on, byMs: number, countedAfter: number) =>
  on
    .updateTable('heartbeats')
    .set((row) => ({
      due_at: row('due_at', '-', byMs),
      counted_from: row('counted_from', '-', byMs),
      version: NEXT_VERSION,
    }))
    .where('missed_at', 'is', null)
    .where('counted_from', '>', countedAfter),
)
