import { sql } from 'kysely'
import { NEXT_VERSION } from '../../store/columns.ts'
import { lockRows } from '../../store/locking.ts'
import { first, type Queries, type Reads, type Tx } from '../../store/store.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { AlertHeartbeat, Ping, StoredHeartbeat } from './model.ts'
import { db, lockable, heartbeatPings, heartbeats, pages, statement } from './tables.ts'

const HEARTBEAT = heartbeats.except('seq')

const insert = statement<StoredHeartbeat>((on, value) =>
  on
    .insertInto('heartbeats')
    .values(heartbeats.values(value))
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

const update = statement<StoredHeartbeat>((on, value) =>
  on
    .updateTable('heartbeats')
    .set(
      heartbeats.set(
        value,
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
    .where('name', '=', value('name')),
)

const remove = statement<{ name: string }>((on, value) =>
  on.deleteFrom('heartbeats').where('name', '=', value('name')),
)

const [find, lock] = lockable<{ name: string }, StoredHeartbeat>((on, value) =>
  on.selectFrom('heartbeats').select(HEARTBEAT).where('name', '=', value('name')),
)

const findByHash = statement<{ pingHash: string }, { name: string }>((on, value) =>
  on.selectFrom('heartbeats').select('name').where('ping_hash', '=', value('pingHash')),
)

const insertPing = statement<Ping & { heartbeat: string }>((on, value) =>
  on.insertInto('heartbeat_pings').values(heartbeatPings.values(value)),
)

const forgetPings = statement<{ heartbeat: string; kept: number }>((on, value) =>
  on
    .deleteFrom('heartbeat_pings')
    .where('heartbeat', '=', value('heartbeat'))
    .where('seq', '<=', (older) =>
      older
        .selectFrom('heartbeat_pings')
        .select('seq')
        .where('heartbeat', '=', value('heartbeat'))
        .orderBy('seq', 'desc')
        .limit(1)
        .offset(value('kept')),
    ),
)

const missed = statement<object, AlertHeartbeat>((on) =>
  on.selectFrom('heartbeats').select(HEARTBEAT).where('missed_at', 'is not', null).orderBy('missed_at'),
)

const due = statement<{ now: number }, { name: string }>((on, value) =>
  on
    .selectFrom('heartbeats')
    .select('name')
    .where('missed_at', 'is', null)
    .where('due_at', '<=', value('now'))
    .orderBy('due_at'),
)

const miss = statement<{ name: string; now: number }>((on, value) =>
  on
    .updateTable('heartbeats')
    .set({ missed_at: value('now'), version: NEXT_VERSION })
    .where('name', '=', value('name'))
    .where('missed_at', 'is', null)
    .where('due_at', '<=', value('now')),
)

const insertCheck = statement<{ name: string }>((on, value) =>
  on
    .insertInto('heartbeat_checks')
    .values({ name: value('name'), checked_at: 0 })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

const lockCheck = statement<{ name: string }, { checkedAt: number }>((on, value, capabilities) =>
  on
    .selectFrom('heartbeat_checks')
    .select('checked_at as checkedAt')
    .where('name', '=', value('name'))
    .$call(lockRows(capabilities)),
)

const updateCheck = statement<{ name: string; now: number }>((on, value) =>
  on
    .updateTable('heartbeat_checks')
    .set({ checked_at: value('now') })
    .where('name', '=', value('name')),
)

/** `false` when there is a heartbeat of that name. */
export async function insertHeartbeat(tx: Tx, heartbeat: StoredHeartbeat): Promise<boolean> {
  return (await tx.change(insert, heartbeat)) === 1
}

export function findHeartbeat(queries: Queries, name: string): Promise<StoredHeartbeat | undefined> {
  return first(queries, find, { name })
}

/** The name of the heartbeat with this hash of its address for pings. */
export async function findNameByHash(queries: Queries, pingHash: string): Promise<string | undefined> {
  return (await first(queries, findByHash, { pingHash }))?.name
}

/** Keeps a ping, and the newest `kept` of the heartbeat in all. */
export async function addPing(tx: Tx, heartbeat: string, ping: Ping, kept: number): Promise<void> {
  await tx.change(insertPing, { ...ping, heartbeat })
  await tx.change(forgetPings, { heartbeat, kept })
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
export function listMissed(queries: Queries): Promise<AlertHeartbeat[]> {
  return queries.run(missed, {})
}

/** Finds a heartbeat and locks it until the end of the transaction. */
export function lockHeartbeat(tx: Tx, name: string): Promise<StoredHeartbeat | undefined> {
  return first(tx, lock, { name })
}

/** Writes a changed heartbeat, and returns it with its next version; the transaction must have locked it. */
export async function updateHeartbeat(tx: Tx, changed: StoredHeartbeat): Promise<StoredHeartbeat> {
  const heartbeat = { ...changed, version: changed.version + 1 }
  await tx.change(update, heartbeat)
  return heartbeat
}

export async function deleteHeartbeat(tx: Tx, name: string): Promise<void> {
  await tx.change(remove, { name })
  await tx.change(forgetPings, { heartbeat: name, kept: 0 })
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
  return (await queries.run(due, { now })).map(({ name }) => name)
}

/** Compare-and-set: `false`, and nothing changes, when a beat came meanwhile or another worker was first. */
export async function markMissed(tx: Tx, name: string, now: number): Promise<boolean> {
  return (await tx.change(miss, { name, now })) === 1
}

const CHECK = { name: 'worker' }

/** Records a check; returns the time of the one before, 0 if there was none. */
export async function recordCheck(tx: Tx, now: number): Promise<number> {
  await tx.change(insertCheck, CHECK)
  const before = await first(tx, lockCheck, CHECK)
  await tx.change(updateCheck, { ...CHECK, now })
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
