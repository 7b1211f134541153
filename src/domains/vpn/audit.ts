// The audit trail: its rows, and the event that goes out with each.
import type { Selectable } from 'kysely'
import { newId } from '../../kernel/ids.ts'
import { mapPage, pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import { sql } from 'kysely'
import type { Queries, Tx } from '../../store/store.ts'
import type { EventSink } from '../../ports/events.ts'
import { VPN_EVENTS } from './events.ts'
import type { AuditEntry, AuditEventName } from './model.ts'
import { dbOf, statement, type VpnAuditTable } from './tables.ts'

type Row = Selectable<VpnAuditTable>

const insert = statement<Omit<Row, 'seq'>>((db, value) =>
  db.insertInto('vpn_audit').values({
    id: value('id'),
    at: value('at'),
    event: value('event'),
    session_id: value('session_id'),
    user_id: value('user_id'),
    gateway: value('gateway'),
    remote_address: value('remote_address'),
    reason: value('reason'),
  }),
)

/** Writes one line of the trail and its event, in the same transaction. */
export async function record(
  tx: Tx,
  events: EventSink<AuditEntry>,
  line: Omit<AuditEntry, 'id'>,
): Promise<void> {
  const entry: AuditEntry = { id: newId(), ...line }
  await tx.change(insert, toRow(entry))
  const subject = entry.sessionId ?? entry.remoteAddress ?? entry.gateway
  await events.append(tx, { type: VPN_EVENTS[entry.event], subject, data: entry })
}

export interface AuditFilter {
  readonly event?: AuditEventName
  /** A user's id. */
  readonly user?: string
}

/** Newest first. */
export async function listAudit(
  queries: Queries,
  { event, user }: AuditFilter,
  page: PageRequest,
): Promise<Page<AuditEntry>> {
  const rows = await dbOf(queries)
    .selectFrom('vpn_audit')
    .selectAll()
    // Written out, so that the partial index of the rare event serves.
    .$if(event !== undefined, (query) => query.where('event', '=', sql.lit(event as AuditEventName)))
    .$if(user !== undefined, (query) => query.where('user_id', '=', user as string))
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return mapPage(pageOf(rows, page.limit), fromRow)
}

/**
 * Removes the lines of one batch of the oldest that were written before that time, never the newest of all, by which
 * the next is numbered; answers how many.
 */
export async function deleteAudit(queries: Tx, before: number, limit: number): Promise<number> {
  const db = dbOf(queries)
  const oldest = db.selectFrom('vpn_audit').select(['seq', 'at']).orderBy('seq').limit(limit).as('oldest')
  const { numDeletedRows } = await db
    .deleteFrom('vpn_audit')
    .where('seq', 'in', db.selectFrom(oldest).select('oldest.seq').where('oldest.at', '<', before))
    .where('seq', '<', (newest) =>
      newest.selectFrom('vpn_audit').select((row) => row.fn.max<number>('seq').as('seq')),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

function toRow(entry: AuditEntry): Omit<Row, 'seq'> {
  return {
    id: entry.id,
    at: entry.at,
    event: entry.event,
    session_id: entry.sessionId,
    user_id: entry.userId,
    gateway: entry.gateway,
    remote_address: entry.remoteAddress,
    reason: entry.reason,
  }
}

function fromRow(row: Row): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    event: row.event,
    sessionId: row.session_id,
    userId: row.user_id,
    gateway: row.gateway,
    remoteAddress: row.remote_address,
    reason: row.reason,
  }
}
