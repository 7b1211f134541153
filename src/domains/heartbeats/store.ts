import { sql } from 'kysely'
import { NEXT_VERSION } from '../../store/columns.ts'
import type { Queries, Reads, Tx } from '../../store/store.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Ping, StoredHeartbeat } from './model.ts'
import {
  db,
  heartbeatPings,
  heartbeats,
  pages,
  readRow,
  readRows,
  changeRow,
  changeRows,
  lockable,
} from './tables.ts'

const HEARTBEAT = heartbeats.except('seq')

const update = changeRows((on, storedHeartbeat: StoredHeartbeat) =>
  on
    .updateTable('heartbeats')
    .set(
      heartbeats.set(
        storedHeartbeat,
        'everySeconds',
        'graceSeconds',
        'severity',
        'source',
        'updatedBy',
        'updatedAt',
        'lastBeatAt',
        'countedFrom',
        'dueAt',
        'missedAt',
        'pingHash',
        'schedule',
        'timeZone',
        'maxRunSeconds',
        'startedAt',
        'durationSeconds',
        'version',
      ),
    )
    .where('name', '=', storedHeartbeat.name),
)

const remove = changeRows((on, name: string) => on.deleteFrom('heartbeats').where('name', '=', name))

const findByHash = readRow((on, pingHash: string) =>
  on.selectFrom('heartbeats').select('name').where('ping_hash', '=', pingHash),
)

const insertPing = changeRows((on, change: Ping & { heartbeat: string }) =>
  on.insertInto('heartbeat_pings').values(heartbeatPings.values(change)),
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

const due = readRows((on, now: number) =>
  on
    .selectFrom('heartbeats')
    .select('name')
    .where('missed_at', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('due_at'),
)

const insertCheck = changeRows((on, name: string) =>
  on
    .insertInto('heartbeat_checks')
    .values({ name, checked_at: 0 })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

const lockCheck = readRow((on, name: string) =>
  on.selectFrom('heartbeat_checks').select('checked_at as checkedAt').where('name', '=', name).forUpdate(),
)

const updateCheck = changeRows((on, { name, now }: { name: string; now: number }) =>
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

/** The name of the heartbeat with this hash of its address for pings. */
export async function findNameByHash(queries: Queries, pingHash: string): Promise<string | undefined> {
  return (await findByHash(queries, pingHash))?.name
}

/** Keeps a ping, and the newest `kept` of the heartbeat in all. */
export async function addPing(tx: Tx, heartbeat: string, ping: Ping, kept: number): Promise<void> {
  await insertPing(tx, { ...ping, heartbeat })
  await forgetPings(tx, heartbeat, kept)
}

const pageOfPings = pages(
  { table: 'heartbeat_pings', createdAt: 'at', size: sizeOf('body') },
  (on) => on.selectFrom('heartbeat_pings').select(heartbeatPings.all),
  { heartbeat: (query, heartbeat: string) => query.where('heartbeat', '=', heartbeat) },
)

/** The pings of a heartbeat, newest first. */
export function listPings(queries: Reads, heartbeat: string, page: PageRequest): Promise<Page<Ping>> {
  return pageOfPings(queries, { heartbeat }, page)
}

/** The heartbeats that are missed now, the longest missed first. */
export const listMissed = readRows((on) =>
  on.selectFrom('heartbeats').select(HEARTBEAT).where('missed_at', 'is not', null).orderBy('missed_at'),
)

/** Writes a changed heartbeat, and returns it with its next version; the transaction must have locked it. */
export async function updateHeartbeat(tx: Tx, changed: StoredHeartbeat): Promise<StoredHeartbeat> {
  const heartbeat = { ...changed, version: changed.version + 1 }
  await update(tx, heartbeat)
  return heartbeat
}

export async function deleteHeartbeat(tx: Tx, name: string): Promise<void> {
  await remove(tx, name)
  await forgetPings(tx, name, 0)
}

/** Newest first. */
export const listHeartbeats = pages(
  { table: 'heartbeats', createdAt: 'created_at' },
  (on) => on.selectFrom('heartbeats').select(heartbeats.all),
  {},
)

/** The time from which the age of each heartbeat counts. */
export function listAges(queries: Queries): Promise<{ name: string; since: number }[]> {
  return db(queries)
    .selectFrom('heartbeats')
    .select(['name', (each) => each.fn.coalesce('last_beat_at', 'created_at').as('since')])
    .execute()
}

export async function hasHeartbeats(queries: Queries): Promise<boolean> {
  return (await db(queries).selectFrom('heartbeats').select('name').limit(1).execute()).length > 0
}

/** The names of overdue heartbeats that are not missed yet. */
export async function listOverdue(queries: Queries, now: number): Promise<string[]> {
  return (await due(queries, now)).map(({ name }) => name)
}

/** Compare-and-set: `false`, and nothing changes, when a beat came meanwhile or another worker was first. */
export const markMissed = changeRow((on, name: string, now: number) =>
  on
    .updateTable('heartbeats')
    .set({ missed_at: now, version: NEXT_VERSION })
    .where('name', '=', name)
    .where('missed_at', 'is', null)
    .where('due_at', '<=', now),
)

const CHECK = { name: 'worker' }

/** Records a check; returns the time of the one before, 0 if there was none. */
export async function recordCheck(tx: Tx, now: number): Promise<number> {
  await insertCheck(tx, CHECK.name)
  const before = await lockCheck(tx, CHECK.name)
  await updateCheck(tx, { ...CHECK, now })
  return before?.checkedAt ?? 0
}

/** Postpones due times by the duration of an absence, or by the part of it after the last beat or change of settings. */
export async function postpone(
  tx: Tx,
  absence: { readonly from: number; readonly to: number },
): Promise<void> {
  const counted = sql<number>`case when counted_from > ${absence.from} then counted_from else ${absence.from} end`
  await db(tx)
    .updateTable('heartbeats')
    .set({ due_at: sql<number>`due_at + ${absence.to} - ${counted}`, version: NEXT_VERSION })
    .where('missed_at', 'is', null)
    .execute()
}

/** Brings due times forward that were counted by a clock which has been set back since. */
export async function bringForward(
  tx: Tx,
  { by, countedAfter }: { readonly by: number; readonly countedAfter: number },
): Promise<void> {
  await db(tx)
    .updateTable('heartbeats')
    .set((row) => ({
      due_at: row('due_at', '-', by),
      counted_from: row('counted_from', '-', by),
      version: NEXT_VERSION,
    }))
    .where('missed_at', 'is', null)
    .where('counted_from', '>', countedAfter)
    .execute()
}
