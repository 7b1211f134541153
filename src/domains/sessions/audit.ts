// The audit trail: its entries, and the event of each.
import { sql } from 'kysely'
import type { SentenceCause, ErrorValues } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { EventSink } from '../../ports/events.ts'
import type { ListFilter } from '../../store/pages.ts'
import type { Tx } from '../../store/store.ts'
import { auditCodeOf, SESSION_EVENTS, type AuditCode, type AuditEntry, type AuditEventName } from './model.ts'
import { audit, changeRows, pages } from './tables.ts'

const insertEntry = changeRows((on, entry: AuditEntry) =>
  on.insertInto('vpn_audit').values(audit.values(entry)),
)

/** Writes an entry and its event, in the same transaction. */
export async function appendAudit(
  tx: Tx,
  events: EventSink<AuditEntry>,
  fields: Omit<AuditEntry, 'id'>,
): Promise<void> {
  const entry: AuditEntry = { id: newId(), ...fields }
  await insertEntry(tx, entry)
  const subject = entry.sessionId ?? entry.remoteAddress ?? entry.gateway
  await events.append(tx, { type: SESSION_EVENTS[entry.event], subject, data: entry })
}

/** The cause of a reason; null for one of a client or a library. */
export function auditCauseOf(
  reason: string,
  values: ErrorValues = {},
  code = auditCodeOf(reason),
): SentenceCause<AuditCode> | null {
  return code ? { code, values } : null
}

/** Newest first. */
export const listAudit = pages(
  { table: 'vpn_audit', createdAt: 'at', literals: ['event'] },
  (on) => on.selectFrom('vpn_audit').select(audit.all),
  {
    event: (query, event: AuditEventName) => query.where('event', '=', sql.lit(event)),
    user: (query, user: string) => query.where('user_id', '=', user),
  },
  audit.decode,
)

export type AuditFilter = ListFilter<typeof listAudit>

/**
 * Takes the oldest `limit` entries and deletes the ones older than `before`; returns how many were deleted. The newest
 * entry always stays, because the next one is numbered after it.
 */
export const deleteAudit = changeRows((on, before: number, limit: number) => {
  const oldest = on.selectFrom('vpn_audit').select(['seq', 'at']).orderBy('seq').limit(limit).as('oldest')
  return on
    .deleteFrom('vpn_audit')
    .where('seq', 'in', on.selectFrom(oldest).select('oldest.seq').where('oldest.at', '<', before))
    .where('seq', '<', (newest) =>
      newest.selectFrom('vpn_audit').select((row) => row.fn.max<number>('seq').as('seq')),
    )
})
