import { sql, type RawBuilder } from 'kysely'
import { newId } from '../../kernel/ids.ts'
import type { NewRowOf, RowOf } from '../../store/columns.ts'
import { touchedRow } from '../../store/locking.ts'
import { continueAfter, numberAfterRestore } from '../../store/numbers.ts'
import { BATCH_BYTES, countWithin } from '../../store/pages.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import { agents, totals, uploads, changeRow, changeRows, db, pages, readRow, readRows } from './tables.ts'

type Totals = RowOf<typeof totals>

/** An agent whose telemetry the bus has refused in that time, and taken none of it since. */
export const findRefusedAgent = readRow((on, after: number, until: number) =>
  on
    .selectFrom('telemetry_agents')
    .select('seq')
    .where('refused_at', '>', after)
    .where('refused_at', '<=', until)
    .limit(1),
)

export const findAgent = readRow(
  (on, agentId: string) =>
    on
      .selectFrom('telemetry_agents')
      .select(agents.pick('agentId', 'firstAt', 'lastAt', 'items', 'lastItem'))
      .where('agent_id', '=', agentId),
  agents.decode,
)

const findTotals = readRow((on) => on.selectFrom('telemetry_totals').select(totals.all))

interface Addition {
  readonly items: number
  readonly bytes: number
  readonly agents: number
  readonly maxItems: number
  readonly maxBytes: number
}

/** Adds to the totals unless a maximum is exceeded; returns the number of agents, or undefined. */
export const addToTotals = readRow(
  (on, addition: Addition) =>
    on
      .updateTable('telemetry_totals')
      .set((row) => ({
        pending_items: row('pending_items', '+', addition.items),
        pending_bytes: row('pending_bytes', '+', addition.bytes),
        agents: row('agents', '+', addition.agents),
      }))
      .where((row) => row(row('pending_items', '+', addition.items), '<=', addition.maxItems))
      .where((row) => row(row('pending_bytes', '+', addition.bytes), '<=', addition.maxBytes))
      .returning('agents'),
  (row) => row.agents,
)

/** Subtracts from the totals. */
export const subtractFromTotals = changeRows((on, items: number, bytes: number, agents: number) =>
  on.updateTable('telemetry_totals').set((row) => ({
    pending_items: row('pending_items', '-', items),
    pending_bytes: row('pending_bytes', '-', bytes),
    agents: row('agents', '-', agents),
  })),
)

const raiseRemovedUpTo = changeRows((on, seq: number) =>
  on.updateTable('telemetry_totals').set({ removed_up_to: seq }).where('removed_up_to', '<', seq),
)

type NewUpload = Omit<NewRowOf<typeof uploads>, 'afterMessage'>

/**
 * The insertion of an upload behind the newest message. One statement, because other writes of the same transaction may
 * run between two: an upload with a higher number must not have an older message.
 */
export function insertionAfter(newestMessage: RawBuilder<number>) {
  return changeRows((on, upload: NewUpload) =>
    on.insertInto('telemetry_uploads').values({
      ...uploads.setExcept(upload, 'afterMessage'),
      after_message: newestMessage,
    }),
  )
}

/** The number of the newest upload. */
const findNewestNumber = readRow(
  (on) => on.selectFrom('telemetry_uploads').select('seq').orderBy('seq', 'desc').limit(1),
  ({ seq }) => seq,
)

/** An upload without its content. */
export type UploadSize = Pick<RowOf<typeof uploads>, 'seq' | 'items' | 'bytes' | 'sent'>

/** The columns of an upload from which its events are created. */
export type StoredUpload = Omit<RowOf<typeof uploads>, 'items' | 'bytes' | 'deliveredAt' | 'acceptedBy'>

/** The row that an upload touches besides the totals, which change by single statements. */
export function agentRow(agentId: string): TouchedRow {
  return touchedRow('telemetry_agents', agentId)
}

// Transactions of one agent run one after the other, so its uploads are numbered in the order of their commits.
/** The agent, locked until the end of the transaction; undefined for a new one. */
export const lockAgent = readRow((on, agentId: string) =>
  on
    .selectFrom('telemetry_agents')
    .select(agents.except('lastItem'))
    .where('agent_id', '=', agentId)
    .forUpdate(),
)

/** `false` when another transaction has added it. */
export const insertAgent = changeRow((on, agent: NewRowOf<typeof agents>) =>
  on
    .insertInto('telemetry_agents')
    .values(agents.values(agent))
    .onConflict((conflict) => conflict.column('agent_id').doNothing()),
)

export const updateAgent = changeRows((on, agent: NewRowOf<typeof agents>) =>
  on
    .updateTable('telemetry_agents')
    .set(agents.set(agent, 'lastAt', 'items', 'bucketFullAt', 'lastItem'))
    .where('agent_id', '=', agent.agentId),
)

/** Newest first, by their first item. */
export const listAgents = pages(
  { table: 'telemetry_agents', createdAt: 'first_at' },
  (on) =>
    on.selectFrom('telemetry_agents').select(agents.pick('seq', 'agentId', 'firstAt', 'lastAt', 'items')),
  {},
)

/** Records when the bus has refused telemetry of these agents; null for a bus that takes it. */
export async function markRefusedAgents(
  tx: Tx,
  agentIds: readonly string[],
  refusedAt: number | null,
): Promise<void> {
  if (agentIds.length === 0) return
  await db(tx)
    .updateTable('telemetry_agents')
    .set({ refused_at: refusedAt })
    .where('agent_id', 'in', agentIds)
    .$if(refusedAt === null, (taken) => taken.where('refused_at', 'is not', null))
    .execute()
}

/**
 * Removes the agents that have been silent longest; returns how many. Agents that are sending now are skipped. `sender` is
 * the one of this transaction, which does not skip the rows that it has locked itself.
 */
export async function deleteSilentAgents(tx: Tx, count: number, sender: string): Promise<number> {
  const rows = await db(tx)
    .selectFrom('telemetry_agents')
    .select('seq')
    .where('agent_id', '!=', sender)
    .orderBy('last_at')
    .orderBy('seq')
    .limit(count)
    .forUpdate()
    .skipLocked()
    .execute()
  const seqs = rows.map(({ seq }) => seq)
  if (seqs.length === 0) return 0
  const { numDeletedRows } = await db(tx)
    .deleteFrom('telemetry_agents')
    .where('seq', 'in', seqs)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function readTotals(queries: Queries): Promise<Totals> {
  const row = await findTotals(queries)
  if (!row) throw new Error('the table telemetry_totals is empty; restore its row from a backup')
  return row
}

// An installation accepts far fewer uploads in a millisecond. The places of the items, 512 for each upload, stay below 2^53
// until 2109.
const NUMBERS_PER_MS = 4

/**
 * Continues the numbers of a restored database above all that were given out before, because they are part of the ids of
 * the live stream. Without a sequence, a delivered upload without items has the number.
 */
export async function continueUploadNumbers(tx: Tx, now: number): Promise<void> {
  const seq = numberAfterRestore((await findNewestNumber(tx)) ?? 0, NUMBERS_PER_MS, now)
  await continueAfter(tx, 'telemetry_uploads', seq, async () => {
    // A backup of an older release has no `after_message`; without it the upload comes before all messages.
    await sql`
      insert into telemetry_uploads
        (seq, id, agent_id, items, bytes, sent, accepted_at, accepted_by, delivered_at, content)
      values (${seq}, ${newId()}, '', 0, 0, 0, ${now}, '', ${now}, '')`.execute(tx.db)
  })
}

/** The oldest undelivered uploads, except those of `withoutAgents`, in the order of their delivery. */
export function listPendingTelemetry(
  queries: Queries,
  limit: number,
  withoutAgents: readonly string[],
): Promise<UploadSize[]> {
  let query = db(queries)
    .selectFrom('telemetry_uploads')
    .select(uploads.pick('seq', 'items', 'bytes', 'sent'))
    .where('delivered_at', 'is', null)
  if (withoutAgents.length > 0) query = query.where('agent_id', 'not in', withoutAgents)
  return query.orderBy('seq').limit(limit).execute()
}

/** The uploads whose number is `seq` or higher, in the order of their numbers. */
export const listUploadsFrom = readRows((on, seq: number, limit: number) =>
  on
    .selectFrom('telemetry_uploads')
    .select(uploads.pick('seq', 'items', 'bytes', 'sent'))
    .where('seq', '>=', seq)
    // Only a restored database has an upload without items.
    .where('items', '>', 0)
    .orderBy('seq')
    .limit(limit),
)

/** The uploads with these numbers, in the order of the numbers. */
export async function readUploads(queries: Queries, seqs: readonly number[]): Promise<StoredUpload[]> {
  if (seqs.length === 0) return []
  return db(queries)
    .selectFrom('telemetry_uploads')
    .select(uploads.except('items', 'bytes', 'deliveredAt', 'acceptedBy'))
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()
}

/**
 * Locks the uploads that are not delivered yet, and returns them. Uploads that another transaction has locked are skipped,
 * because a suspended process keeps its locks until the database ends its transaction.
 */
export async function lockPendingTelemetry(tx: Tx, seqs: readonly number[]): Promise<UploadSize[]> {
  if (seqs.length === 0) return []
  return db(tx)
    .selectFrom('telemetry_uploads')
    .select(uploads.pick('seq', 'items', 'bytes', 'sent'))
    .where('seq', 'in', seqs)
    .where('delivered_at', 'is', null)
    .orderBy('seq')
    .forUpdate()
    .skipLocked()
    .execute()
}

export async function markTelemetryDelivered(tx: Tx, seqs: readonly number[], at: number): Promise<void> {
  if (seqs.length === 0) return
  await db(tx)
    .updateTable('telemetry_uploads')
    .set((row) => ({ delivered_at: at, sent: row.ref('items') }))
    .where('seq', 'in', seqs)
    .execute()
}

/** Records how many items of an upload are delivered or dead. */
export const markTelemetrySent = changeRows((on, seq: number, sent: number) =>
  on.updateTable('telemetry_uploads').set({ sent }).where('seq', '=', seq),
)

// Few uploads are newer than the newest message, so few rows are read.
/** The newest upload that comes before the message after `message`; undefined if there is none. */
export const findNewestBefore = readRow((on, message: number) =>
  on
    .selectFrom('telemetry_uploads')
    .select(['seq', 'items'])
    .where('after_message', '<=', message)
    .orderBy('seq', 'desc')
    .limit(1),
)

/**
 * Removes one batch of uploads that were delivered before `before`; returns how many. The newest one is kept, because the
 * number of the next one is derived from it.
 */
export async function deleteDeliveredTelemetry(tx: Tx, before: number, limit: number): Promise<number> {
  const newest = await findNewestNumber(tx)
  if (newest === undefined) return 0
  const rows = await db(tx)
    .selectFrom('telemetry_uploads')
    .select(['seq', 'bytes'])
    .where('delivered_at', '<', before)
    .where('seq', '<', newest)
    .orderBy('delivered_at')
    .limit(limit)
    .execute()
  const seqs = rows.slice(0, countWithin(rows, BATCH_BYTES)).map(({ seq }) => seq)
  if (seqs.length === 0) return 0
  await db(tx).deleteFrom('telemetry_uploads').where('seq', 'in', seqs).execute()
  await raiseRemovedUpTo(tx, Math.max(...seqs))
  return seqs.length
}
