// The audit trail: its entries, and the event of each.
import { sql } from 'kysely'
import { newId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { EventSink } from '../../ports/events.ts'
import { createdIn } from '../../store/created-in.ts'
import { readPage } from '../../store/read-page.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { SESSION_EVENTS } from './events.ts'
import type { AuditEntry, AuditEventName } from './model.ts'
import { audit, db, statement } from './tables.ts'

const insert = statement<AuditEntry>((on, value) => on.insertInto('vpn_audit').values(audit.values(value)))

/** Writes an entry and its event, in the same transaction. */
export async function appendAudit(
  tx: Tx,
  events: EventSink<AuditEntry>,
  fields: Omit<AuditEntry, 'id'>,
): Promise<void> {
  const entry: AuditEntry = { id: newId(), ...fields }
  await tx.change(insert, entry)
  const subject = entry.sessionId ?? entry.remoteAddress ?? entry.gateway
  await events.append(tx, { type: SESSION_EVENTS[entry.event], subject, data: entry })
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
  let query = db(queries).selectFrom('vpn_audit').select(audit.all)
  // Written out: the partial index of `auth_failed` covers only a query that repeats its condition.
  if (event) query = query.where('event', '=', sql.lit(event))
  if (user) query = query.where('user_id', '=', user)
  for (const condition of await createdIn(queries, 'vpn_audit', 'at', page)) query = query.where(condition)
  return readPage(query, page)
}

/**
 * Takes the oldest `limit` entries and deletes the ones older than `before`; returns how many were deleted. The newest
 * entry always stays, because the next one is numbered after it.
 */
export async function deleteAudit(tx: Tx, before: number, limit: number): Promise<number> {
  const on = db(tx)
  const oldest = on.selectFrom('vpn_audit').select(['seq', 'at']).orderBy('seq').limit(limit).as('oldest')
  const { numDeletedRows } = await on
    .deleteFrom('vpn_audit')
    .where('seq', 'in', on.selectFrom(oldest).select('oldest.seq').where('oldest.at', '<', before))
    .where('seq', '<', (newest) =>
      newest.selectFrom('vpn_audit').select((row) => row.fn.max<number>('seq').as('seq')),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
